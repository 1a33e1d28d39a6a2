/**
 * Stands in for `formats.ts` in the light reader: the formats of `ajv-formats` (MIT) without what only Ajv needs of them, and with
 * the parts that their expressions repeat written once. A test holds both tables equal.
 */

type Format =
  | RegExp
  | true
  | ((text: string) => boolean)
  | { type: 'number'; validate(value: number): boolean }

/** An expression in which capital letters stand for its parts. */
function expression(template: string, parts: Readonly<Record<string, string>>): RegExp {
  return new RegExp(`^${template.replace(/[A-Z]/g, (name) => parts[name] as string)}$`, 'i')
}

const hextet = '[0-9a-f]{1,4}'

/** A URI, or a reference to one: without its scheme, without its path, with further characters. */
function uri(optional: '' | '?', quote: '' | '"'): RegExp {
  const C = "[a-z0-9\\-._~!$&'()*+,;="
  const D = C.replace("'", `'${quote}`)
  const E = '|%[0-9a-f]{2})'
  return expression(
    '(?:[a-z][a-z0-9+\\-.]*:)O(?:\\/?\\/(?:(?:C:]E*@)?(?:\\[(?:(?:(?:(?:H:){6}|::(?:H:){5}|(?:H)?::(?:H:){4}|(?:(?:H:){0,1}H)?::(?:H:){3}|(?:(?:H:){0,2}H)?::(?:H:){2}|(?:(?:H:){0,3}H)?::H:|(?:(?:H:){0,4}H)?::)(?:H:H|V)|(?:(?:H:){0,5}H)?::H|(?:(?:H:){0,6}H)?::)|X[0-9a-f]+\\.C:]+)\\]|V|(?:D]E*)(?::\\d*)?(?:\\/P*)*|\\/(?:P+(?:\\/P*)*)?|P+(?:\\/P*)*)O(?:\\?Q*)?(?:#Q*)?',
    {
      O: optional,
      H: hextet,
      V: '(?:(?:25[0-5]|2[0-4]\\d|[01]?\\d\\d?)\\.){3}(?:25[0-5]|2[0-4]\\d|[01]?\\d\\d?)',
      C,
      D,
      E,
      P: `(?:${D}:@]${E}`,
      Q: `(?:${D}:@/?]${E}`,
      X: '[Vv]',
    },
  )
}

const URI = uri('', '')
const octet = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const TIME = /^(\d\d):(\d\d):(\d\d(?:\.\d+)?)(z|([+-])(\d\d)(?::?(\d\d))?)?$/i

/** Whether a day is in the calendar: the same day comes back. */
function date(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const day = new Date(`${text}T00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

/** A time of day; a leap second is one at the end of the day in UTC. */
function time(needsZone: boolean): (text: string) => boolean {
  return (text) => {
    const match = TIME.exec(text)
    if (match === null) return false
    const [hour = 0, minute = 0, second = 0] = match.slice(1, 4).map(Number)
    const sign = match[5] === '-' ? -1 : 1
    const zoneHour = Number(match[6] ?? 0)
    const zoneMinute = Number(match[7] ?? 0)
    if (zoneHour > 23 || zoneMinute > 59 || (needsZone && !match[4])) return false
    if (hour <= 23 && minute <= 59 && second < 60) return true
    const utcMinute = minute - zoneMinute * sign
    const utcHour = hour - zoneHour * sign - (utcMinute < 0 ? 1 : 0)
    return (utcHour === 23 || utcHour === -1) && (utcMinute === 59 || utcMinute === -1) && second < 61
  }
}

function dateTime(needsZone: boolean): (text: string) => boolean {
  const isTime = time(needsZone)
  return (text) => {
    const [day = '', hours = '', ...rest] = text.split(/t|\s/i)
    return rest.length === 0 && date(day) && isTime(hours)
  }
}

function isRegex(text: string): boolean {
  try {
    return !/[^\\]\\Z/.test(text) && !!new RegExp(text)
  } catch {
    return false
  }
}

function number(validate: (value: number) => boolean): Format {
  return { type: 'number', validate }
}

/** Every format that is checked. */
export const formats: Readonly<Record<string, Format>> = {
  date,
  time: time(true),
  'date-time': dateTime(true),
  'iso-time': time(false),
  'iso-date-time': dateTime(false),
  duration: /^P(?!$)((\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?|(\d+W)?)$/,
  uri: (text) => /[/:]/.test(text) && URI.test(text),
  'uri-reference': uri('?', '"'),
  'uri-template':
    /^(?:(?:[^\x00-\x20"'<>%\\^`{|}]|%[0-9a-f]{2})|\{[+#./;?&=,!@|]?(?:[a-z0-9_]|%[0-9a-f]{2})+(?::[1-9][0-9]{0,3}|\*)?(?:,(?:[a-z0-9_]|%[0-9a-f]{2})+(?::[1-9][0-9]{0,3}|\*)?)*\})*$/i,
  url: /^(?:https?|ftp):\/\/(?:\S+(?::\S*)?@)?(?:(?!(?:10|127)(?:\.\d{1,3}){3})(?!(?:169\.254|192\.168)(?:\.\d{1,3}){2})(?!172\.(?:1[6-9]|2\d|3[0-1])(?:\.\d{1,3}){2})(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.(?:1?\d{1,2}|2[0-4]\d|25[0-5])){2}(?:\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4]))|(?:(?:[a-z0-9\u{00a1}-\u{ffff}]+-)*[a-z0-9\u{00a1}-\u{ffff}]+)(?:\.(?:[a-z0-9\u{00a1}-\u{ffff}]+-)*[a-z0-9\u{00a1}-\u{ffff}]+)*(?:\.(?:[a-z\u{00a1}-\u{ffff}]{2,})))(?::\d{2,5})?(?:\/[^\s]*)?$/iu,
  email:
    /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i,
  hostname:
    /^(?=.{1,253}\.?$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[-0-9a-z]{0,61}[0-9a-z])?)*\.?$/i,
  ipv4: /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/,
  ipv6: expression(
    '(((H:){7}(H|:))|((H:){6}(:H|W|:))|((H:){5}(((:H){1,2})|:W|:))|((H:){4}(((:H){1,3})|((:H)?:W)|:))|((H:){3}(((:H){1,4})|((:H){0,2}:W)|:))|((H:){2}(((:H){1,5})|((:H){0,3}:W)|:))|((H:){1}(((:H){1,6})|((:H){0,4}:W)|:))|(:(((:H){1,7})|((:H){0,5}:W)|:)))',
    { H: hextet, W: `(${octet}(\\.${octet}){3})` },
  ),
  regex: isRegex,
  uuid: /^(?:urn:uuid:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
  'json-pointer': /^(?:\/(?:[^~/]|~0|~1)*)*$/,
  'json-pointer-uri-fragment': /^#(?:\/(?:[a-z0-9_\-.!$&'()*+,;:=@]|%[0-9a-f]{2}|~0|~1)*)*$/i,
  'relative-json-pointer': /^(?:0|[1-9][0-9]*)(?:#|(?:\/(?:[^~/]|~0|~1)*)*)$/,
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/m,
  int32: number((value) => value === (value | 0)),
  int64: number(Number.isInteger),
  float: number(() => true),
  double: number(() => true),
  password: true,
  binary: true,
}

/** Formats whose check is linear in the text; `url` takes seconds on a crafted one. */
export const safeFormats: ReadonlySet<string> = new Set(Object.keys(formats).filter((name) => name !== 'url'))
