/** The visible rows of a long list with rows of one height. Elements are reused: a row that leaves the view becomes one that enters it. */
import { type ComputedRef, computed, onScopeDispose, type Ref, shallowRef, watch } from 'vue'

interface Row {
  /** Names the element; stays the same while it shows one row after another. */
  readonly slot: number
  readonly index: number
  readonly top: number
}

interface RowsOptions {
  readonly count: () => number
  readonly rowHeight: number
  /** Rows before and after the visible ones. */
  readonly spare?: number
}

export function useRows(
  scroller: Readonly<Ref<HTMLElement | null>>,
  { count, rowHeight, spare = 10 }: RowsOptions,
): { readonly rows: ComputedRef<readonly Row[]>; readonly total: ComputedRef<number> } {
  const first = shallowRef(0)
  const visible = shallowRef(0)
  const measure = () => {
    const box = scroller.value
    if (!box) return
    first.value = Math.floor(box.scrollTop / rowHeight)
    visible.value = Math.ceil(box.clientHeight / rowHeight) + 1
  }
  const observer = new ResizeObserver(measure)
  watch(
    scroller,
    (box, before) => {
      before?.removeEventListener('scroll', measure)
      observer.disconnect()
      if (!box) return
      box.addEventListener('scroll', measure, { passive: true })
      observer.observe(box)
      measure()
    },
    { immediate: true, flush: 'post' },
  )
  onScopeDispose(() => observer.disconnect())
  return {
    total: computed(() => count() * rowHeight),
    rows: computed(() => {
      const size = visible.value + 2 * spare
      const begin = Math.max(0, Math.min(first.value - spare, count() - size))
      const length = Math.max(0, Math.min(size, count() - begin))
      return Array.from({ length }, (_, at) => {
        const index = begin + at
        return { slot: index % size, index, top: index * rowHeight }
      }).sort((a, b) => a.slot - b.slot)
    }),
  }
}
