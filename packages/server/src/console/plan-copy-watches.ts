/** Decides which copies on members are watched for rows. Pure. */

/** One watch per member, kind and namespace; each is a connection of the hub to the member. */
export const MAX_WATCHES = 200;

export interface CopyWatch {
  member: string;
  /** A wanted kind. */
  want: string;
}

/**
 * The first kinds on all members, so that a row is live in all its cells. What is beyond the limit shows what members
 * reported to the hub.
 */
export function planCopyWatches(
  members: readonly string[],
  wants: Iterable<string>,
): { watches: Map<string, CopyWatch>; isComplete: boolean } {
  const watches = new Map<string, CopyWatch>();
  for (const want of wants)
    for (const member of members) {
      if (watches.size === MAX_WATCHES) return { watches, isComplete: false };
      watches.set(`${member} ${want}`, { member, want });
    }
  return { watches, isComplete: true };
}
