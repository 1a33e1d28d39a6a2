/**
 * Recognises a text that declines the task and carries no value, such as "I'm sorry, but I can't help with that." It must be
 * short, hold no JSON, and say in the first person that its writer will not or cannot do what was asked; an apology alone or
 * a "cannot" about something else is no refusal.
 */

/** Longer texts hold something besides the refusal. */
const longest = 600

/** Its writer is the subject: "I can't", "I'm sorry, but I am unable to". */
const english =
  /\b(?:i|we)(?:'m|'re| am| are)?(?: (?:sorry|afraid|really|very|truly|so|but|that|i|we|must|have to|simply|respectfully),?)* (?:can't|cannot|can not|won't|will not|unable to|not able to|not allowed to|not permitted to|not comfortable|decline|refuse)\b/

/** What is declined is the task itself. */
const task =
  /\b(?:help|assist|comply|fulfil|fulfill|provide|answer|respond|generate|create|produce|complete|write|continue|discuss|support|engage|share|process|perform|carry out|do (?:that|this|so|it)|that request|this request|your request)\b/

const others: readonly RegExp[] = [
  /(?:tut mir leid|bedaure|entschuldigung|leider).*(?:kann|darf|werde)\b.*(?:nicht|kein)/,
  /(?:lo siento|lamento|disculpa|perdón).*no (?:puedo|podemos|me es posible)/,
  /(?:désolé|regrette|excuse).*ne (?:peux|pouvons|suis)\b.*pas\b/,
]

export function declines(text: string): boolean {
  if (text.length > longest || /[{}[\]]/.test(text)) return false
  const plain = text
    .toLowerCase()
    .replace(/[’‘`]/g, "'")
    .replace(/[*_#>"]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
  // The refusal comes first: what is said later explains it.
  const [first = '', second = ''] = plain.split(/(?<=[.!?]) /)
  const opening = `${first} ${second}`
  return declinesInEnglish(opening) || others.some((pattern) => pattern.test(opening))
}

/** The task is named after the refusal ("I can't help with that"), or nothing is ("I'm sorry, I can't."). */
function declinesInEnglish(opening: string): boolean {
  const found = english.exec(opening)
  if (found === null) return false
  const rest = opening.slice(found.index + found[0].length).trim()
  return rest === '' || /^[.!]/.test(rest) || task.test(opening.slice(found.index))
}
