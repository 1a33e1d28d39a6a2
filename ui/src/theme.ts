/** Light or dark: as the system, unless the user chose. The choice is no secret and is kept in local storage. */
import { shallowRef } from 'vue'

type Theme = 'system' | 'light' | 'dark'
const key = 'proviso.theme'

export const theme = shallowRef<Theme>('system')

export function startTheme(): void {
  const saved = localStorage.getItem(key)
  setTheme(saved === 'light' || saved === 'dark' ? saved : 'system')
}

export function setTheme(next: Theme): void {
  theme.value = next
  if (next === 'system') {
    localStorage.removeItem(key)
    delete document.documentElement.dataset['theme']
  } else {
    localStorage.setItem(key, next)
    document.documentElement.dataset['theme'] = next
  }
}

export function isDark(): boolean {
  if (theme.value !== 'system') return theme.value === 'dark'
  return matchMedia('(prefers-color-scheme: dark)').matches
}
