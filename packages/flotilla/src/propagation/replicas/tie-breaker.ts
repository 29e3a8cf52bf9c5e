/** Decides which of several equal clusters gets the last replica or completion. */
interface Named {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/**
 * A name is known before an object is created, so that a plan for a new object is what happens, and stays the same when it
 * is created again.
 */
export const tieBreakerOf = ({ kind, namespace = "", name }: Named): string => `${kind}/${namespace}/${name}`;
