/** Conversations are kept for a while, for one person, and never too many. */
import { expect, it } from 'vitest'
import { conversationLimits, createConversations } from './conversations.ts'

it('ends after half an hour of silence, counted from the last message', () => {
  let now = 0
  const conversations = createConversations({ now: () => now })
  const begun = conversations.begin('ann', {})
  now = conversationLimits.keepMs - 1
  expect(conversations.find('ann', begun.id)).toMatchObject({ id: begun.id })
  conversations.keep(begun)
  now += conversationLimits.keepMs - 1
  expect(conversations.find('ann', begun.id)).toBeDefined()
  now += 1
  expect(conversations.find('ann', begun.id)).toBeUndefined()
  expect(conversations.size).toBe(0)
})

it('belongs to its owner only', () => {
  const conversations = createConversations({ now: () => 0 })
  const { id } = conversations.begin('ann', {})
  expect(conversations.find('bob', id)).toBeUndefined()
})

it('evicts the conversation that was silent longest', () => {
  let now = 0
  const conversations = createConversations({ now: () => now++ })
  const first = conversations.begin('ann', {})
  const second = conversations.begin('ann', {})
  conversations.keep(first)
  for (let more = 2; more <= conversationLimits.conversations; more++) conversations.begin('bob', {})
  expect(conversations.size).toBe(conversationLimits.conversations)
  expect(conversations.find('ann', second.id)).toBeUndefined()
  expect(conversations.find('ann', first.id)).toBeDefined()
})
