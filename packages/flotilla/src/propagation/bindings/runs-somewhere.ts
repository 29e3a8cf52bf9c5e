/** Whether a member has the object of a binding, or keeps it until it is evicted. */
export const runsSomewhere = ({
  spec,
}: {
  readonly spec: { readonly clusters?: readonly unknown[]; readonly gracefulEvictionTasks?: readonly unknown[] };
}): boolean => Boolean(spec.clusters?.length) || Boolean(spec.gracefulEvictionTasks?.length);
