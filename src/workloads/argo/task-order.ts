/**
 * The order in which tasks can run: each after everything that it needs. Pure; costs one look at every task and need.
 */

/** Undefined when tasks wait for each other. Needs that are no task are passed over. */
export function taskOrder(needs: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const left = new Map<string, number>();
  const followers = new Map<string, string[]>();
  for (const [name, list] of needs) {
    const own = [...new Set(list)].filter((need) => needs.has(need));
    left.set(name, own.length);
    for (const need of own) {
      const after = followers.get(need);
      if (after) after.push(name);
      else followers.set(need, [name]);
    }
  }
  const order = [...left].filter(([, count]) => count === 0).map(([name]) => name);
  for (const name of order) {
    for (const follower of followers.get(name) ?? []) {
      const count = (left.get(follower) ?? 0) - 1;
      left.set(follower, count);
      if (count === 0) order.push(follower);
    }
  }
  return order.length === needs.size ? order : undefined;
}
