/**
 * Work on shared objects is done once. Objects from the client and the informers are never modified, and their parts are
 * shared: a pod template is one object on the hub, in its Works and on every member.
 */

/** The same pure function. It is not called again with an object that it returned as it is. */
export function skipUnchanged<T extends object>(edit: (value: T) => T): (value: T) => T {
  const unchanged = new WeakSet<object>();
  return (value) => {
    if (unchanged.has(value)) return value;
    const edited = edit(value);
    if (edited === value) unchanged.add(value);
    return edited;
  };
}

/** The same pure check. It is not called again with an object in which it found nothing. */
export function skipSound<T extends object, E>(check: (value: T, at: string) => E[]): (value: T, at: string) => E[] {
  const sound = new WeakSet<object>();
  return (value, at) => {
    if (sound.has(value)) return [];
    const found = check(value, at);
    if (found.length === 0) sound.add(value);
    return found;
  };
}
