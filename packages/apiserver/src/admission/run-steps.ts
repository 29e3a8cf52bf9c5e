/**
 * Runs work in order and waits only for what returned a promise. Code without asynchronous parts finishes in the
 * caller's turn: without a promise, a microtask or a copy of its state.
 */

/** Promises of this process. Data may have a field `then`, so a thenable is not enough. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return value instanceof Promise;
}

/** Continues with a value: at once, or when it arrives. */
export function after<T, R>(value: T | Promise<T>, continuation: (value: T) => R | Promise<R>): R | Promise<R> {
  return isPromise(value) ? value.then(continuation) : continuation(value);
}

/** Visits the items one after the other. */
export function inOrder<State, Item>(
  state: State,
  items: readonly Item[],
  visit: (state: State, item: Item) => void | Promise<void>,
  from = 0,
): void | Promise<void> {
  for (let index = from; index < items.length; index++) {
    const pending = visit(state, items[index] as Item);
    if (pending) return pending.then(() => inOrder(state, items, visit, index + 1));
  }
}
