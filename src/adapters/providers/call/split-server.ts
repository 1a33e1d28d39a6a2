/** Splits `URL#model`, the form in which a model id names its server. */
export function splitServer(model: string): { readonly baseURL?: string; readonly model: string } {
  const hash = model.lastIndexOf('#')
  if (!/^https?:\/\//.test(model) || hash < 0) return { model }
  return { baseURL: model.slice(0, hash), model: model.slice(hash + 1) }
}
