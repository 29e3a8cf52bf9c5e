/**
 * The order of writes that depend on each other. etcd decides concurrent requests in any order, and writes that follow one
 * another wait for its disk each time; so a write waits only for earlier ones that write a key which it writes or guards,
 * or that guard the key which it writes.
 */
interface Users {
  writer: Promise<void> | undefined;
  readers: Set<Promise<void>>;
}

export class WriteOrder {
  readonly #users = new Map<string, Users>();

  /** Runs `work` when the earlier writes that it depends on have ended. */
  async run<T>(key: string, guards: readonly string[], work: () => Promise<T>): Promise<T> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const before: Promise<void>[] = [];
    const users = this.#usersOf(key);
    if (users.writer) before.push(users.writer);
    before.push(...users.readers);
    users.writer = ended;
    users.readers = new Set();
    for (const guard of guards) {
      if (guard === key) continue;
      const others = this.#usersOf(guard);
      if (others.writer) before.push(others.writer);
      others.readers.add(ended);
    }
    try {
      if (before.length > 0) await Promise.all(before);
      return await work();
    } finally {
      end();
      this.#leave(key, ended);
      for (const guard of guards) this.#leave(guard, ended);
    }
  }

  #usersOf(key: string): Users {
    let users = this.#users.get(key);
    if (!users) this.#users.set(key, (users = { writer: undefined, readers: new Set() }));
    return users;
  }

  #leave(key: string, ended: Promise<void>): void {
    const users = this.#users.get(key);
    if (!users) return;
    if (users.writer === ended) users.writer = undefined;
    users.readers.delete(ended);
    if (!users.writer && users.readers.size === 0) this.#users.delete(key);
  }
}
