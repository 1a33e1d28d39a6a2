import { createMemoryStore } from './memory.ts'
export async function openStore(_spec: string) {
  return createMemoryStore()
}
