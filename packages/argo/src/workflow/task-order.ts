/** Topological order of tasks: each after all its dependencies. Pure; linear in tasks and dependencies. */

/** Undefined for a dependency cycle. Dependencies that are not tasks are ignored. */
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
