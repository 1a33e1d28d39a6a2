// @ts-check
/** Finds the Chromium that browser tests run in: `PROVISO_CHROMIUM`, else the one of the system, else Debian's package. */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installDebianPackage } from './debian.mjs'

/** Returns why Chromium is missing; `undefined` if it is installed. In CI, a missing one throws. */
export function missingChromium() {
  if (findChromium() !== undefined) return undefined
  installDebianPackage('chromium')
  if (findChromium() !== undefined) return undefined
  const reason = 'Chromium was not found: install the package chromium, or set PROVISO_CHROMIUM to its path'
  if (process.env['CI'] === 'true') throw new Error(`${reason}; in CI its tests must not be skipped`)
  console.warn(`${reason}; its tests are skipped.`)
  return reason
}

/** Starts headless Chromium without background traffic. */
export async function launchChromium() {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error(missingChromium())
  const { chromium } = await import('playwright-core')
  return chromium.launch({
    executablePath,
    // Chromium's sandbox does not start as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/** Fonts of the pictures: files of the packages, which are installed where they are missing. */
const fonts = [
  ['/usr/share/fonts/opentype/inter', 'fonts-inter'],
  ['/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf', 'fonts-dejavu-core'],
]

/** Installs what pictures need, so that they look alike on every machine; says what is still missing. */
export function ensureFonts() {
  for (const [path = '', name = ''] of fonts) {
    if (existsSync(path)) continue
    installDebianPackage(name)
    if (!existsSync(path)) console.warn(`${name} is missing: pictures have another font.`)
  }
}

function findChromium() {
  const given = process.env['PROVISO_CHROMIUM']
  if (given !== undefined) {
    if (existsSync(given)) return given
    throw new Error(`PROVISO_CHROMIUM must be the path of a Chromium, got ${given}`)
  }
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin']
  return folders.map((folder) => join(folder, 'chromium')).find((file) => existsSync(file))
}
