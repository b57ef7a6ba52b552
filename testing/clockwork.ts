/** Virtual time: events in order of their time, and nothing happens between two of them but what the first one set going. */

export type Clockwork = {
  nowMs(): number;
  at(timeMs: number, run: () => void): void;
  /** Runs events until `done` says so, none is left, or the time is over. */
  run(done: () => boolean, untilMs: number): Promise<void>;
};

type Event = { readonly timeMs: number; readonly order: number; readonly run: () => void };

const before = (a: Event, b: Event): boolean => a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.order < b.order);

/** Taken when this file is loaded: a test's fake timers would never let it come. */
const immediately = setImmediate;

/** All promise reactions that an event set going have run when a macrotask runs. */
export const promisesSettled = (): Promise<void> => new Promise((resolve) => void immediately(resolve));

/** @param quiet resolves when nothing that an event set going goes on by itself any more: only then comes the next one. */
export function clockwork(startMs: number, quiet: () => Promise<void> = promisesSettled): Clockwork {
  const heap: Event[] = [];
  let nowMs = startMs;
  let order = 0;

  const push = (event: Event): void => {
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || !before(event, parent)) break;
      heap[at] = parent;
      heap[up] = event;
      at = up;
    }
  };

  const pop = (): Event | undefined => {
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      let child = heap[down];
      const right = heap[down + 1];
      if (child === undefined) break;
      if (right !== undefined && before(right, child)) {
        child = right;
        down += 1;
      }
      if (!before(child, last)) break;
      heap[at] = child;
      at = down;
    }
    heap[at] = last;
    return first;
  };

  return {
    nowMs: () => nowMs,
    at: (timeMs, run) => push({ timeMs: Math.max(nowMs, timeMs), order: order++, run }),
    run: async (done, untilMs) => {
      await quiet();
      while (!done()) {
        const event = pop();
        if (event === undefined) return;
        if (event.timeMs > untilMs) {
          nowMs = untilMs;
          push(event);
          return;
        }
        nowMs = event.timeMs;
        event.run();
        await quiet();
      }
    },
  };
}
