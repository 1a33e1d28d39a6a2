/** Cuts texts to a width. Done once per text: to clip with styles costs something in every frame. */

interface TextShape {
  /** Pixels. */
  readonly width: number
  readonly size: number
  readonly weight?: number
}

let context: CanvasRenderingContext2D | null | undefined
let family = ''

export function fitText(text: string, { width, size, weight = 400 }: TextShape): string {
  if (context === undefined) {
    context = document.createElement('canvas').getContext('2d')
    family = getComputedStyle(document.documentElement).fontFamily
  }
  if (!context) return text
  context.font = `${weight} ${size}px ${family}`
  const { width: whole } = context.measureText(text)
  if (whole <= width) return text
  // The average width of its characters is near enough to begin with.
  let cut = text.slice(0, Math.ceil((text.length * width) / whole))
  while (cut.length > 1 && context.measureText(`${cut}…`).width > width) cut = cut.slice(0, -1)
  return `${cut.trimEnd()}…`
}
