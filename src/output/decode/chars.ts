/** Character classes of model text: spaces, quotes and full-width punctuation. Pure look-ups, used by every scanner. */

export const TAB = 9
export const LF = 10
export const CR = 13
export const SPACE = 32
export const DQUOTE = 34
export const HASH = 35
export const SQUOTE = 39
export const LPAREN = 40
export const RPAREN = 41
export const STAR = 42
export const PLUS = 43
export const COMMA = 44
export const MINUS = 45
export const DOT = 46
export const SLASH = 47
export const COLON = 58
export const SEMICOLON = 59
export const LESS = 60
export const EQUALS = 61
export const LBRACKET = 91
export const BACKSLASH = 92
export const RBRACKET = 93
export const BACKTICK = 96
export const LBRACE = 123
export const RBRACE = 125
export const TILDE = 126
/** “ and ”. */
export const LEFT_DQUOTE = 0x201c
export const RIGHT_DQUOTE = 0x201d

/** JSON white space. */
export function isSpace(c: number): boolean {
  return c === SPACE || c === LF || c === CR || c === TAB
}

/** White space and invisible characters outside JSON: BOM, NUL, no-break, zero-width, ideographic space. */
export function isOddSpace(c: number): boolean {
  if (c > SPACE && c < 0x85) return false
  return (
    c === 0 ||
    c === 0x0b ||
    c === 0x0c ||
    c === 0x85 ||
    c === 0xa0 ||
    c === 0x180e ||
    (c >= 0x2000 && c <= 0x200d) ||
    c === 0x2028 ||
    c === 0x2029 ||
    c === 0x202f ||
    c === 0x205f ||
    c === 0x2060 ||
    c === 0x3000 ||
    c === 0xfeff
  )
}

export function isDigit(c: number): boolean {
  return c >= 48 && c <= 57
}

/** Characters of an unquoted name: letters of any script, digits, `_ $ - .` */
export function isNameChar(c: number): boolean {
  return (
    (c >= 97 && c <= 122) ||
    (c >= 65 && c <= 90) ||
    isDigit(c) ||
    c === 95 ||
    c === 36 ||
    c === MINUS ||
    c === DOT ||
    (c >= 0xc0 && !isOddSpace(c) && fold(c) === c && getClosers(c) === '' && !isClosingQuote(c))
  )
}

/** Maps full-width and CJK punctuation to its ASCII equivalent; every other character to itself. */
export function fold(c: number): number {
  if (c < 0x3000) return c
  switch (c) {
    case 0xff5b:
      return LBRACE
    case 0xff5d:
      return RBRACE
    case 0xff3b:
      return LBRACKET
    case 0xff3d:
      return RBRACKET
    case 0xff1a:
      return COLON
    case 0xff0c:
    case 0x3001:
      return COMMA
    default:
      return c
  }
}

/** A comma of full width, or the ideographic one. */
export function isWideComma(c: number): boolean {
  return c === 0xff0c || c === 0x3001
}

/** The characters that may close a string opened by `c`; empty when `c` opens no string. */
export function getClosers(c: number): string {
  switch (c) {
    case DQUOTE:
      return '"'
    case SQUOTE:
      return "'"
    case BACKTICK:
      return "`´'"
    case 0x201c:
      return '”"“'
    case 0x201d:
      return '”"'
    case 0x201e:
      return '“”"'
    case 0x2018:
      return "’'"
    case 0x2019:
      return "’'"
    case 0x201a:
      return "‘’'"
    case 0xab:
      return '»'
    case 0x2039:
      return '›'
    case 0x300c:
      return '」'
    case 0x300e:
      return '』'
    case 0xff02:
      return '＂"'
    case 0xff07:
      return "＇'"
    case 0xb4:
      return '´'
    default:
      return ''
  }
}

export function isQuote(c: number): boolean {
  return c === DQUOTE || c === SQUOTE || (c >= BACKTICK && getClosers(c) !== '')
}

function isClosingQuote(c: number): boolean {
  return c === 0xbb || c === 0x203a || c === 0x300d || c === 0x300f || c === 0x201d || c === 0x2019
}

export function isOpener(c: number): boolean {
  return c === LBRACE || c === LBRACKET
}

export function isCloser(c: number): boolean {
  return c === RBRACE || c === RBRACKET || c === RPAREN
}
