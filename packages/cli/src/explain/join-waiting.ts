/** Names what is still waited for in one line: the first few, with the members that wait for the same together. Pure. */
import { nameMembers } from "../health/name-members.ts";
import { shorten } from "../text-layout.ts";

interface WaitingOn {
  /** `Deployment shop/web` */
  title: string;
  cluster: string;
  reason: string;
  /** What keeps its pods from running, if it is known. */
  cause?: string | undefined;
}

const MAX_LISTED = 3;
/** A message of an admission plugin may be long; `flotilla why` shows all of it. */
const MAX_REASON_CHARACTERS = 300;

/** `Deployment shop/web on m1, m2: 1 of 4 pods is not ready (cause); and 3 more`; copies with a known cause come first. */
export function joinWaiting(waiting: readonly WaitingOn[]): string {
  const groups = [
    ...Map.groupBy(waiting, ({ title, reason, cause }) => JSON.stringify([title, reason, cause])).values(),
  ];
  const listed = [
    ...groups.filter(([first]) => first?.cause !== undefined),
    ...groups.filter(([first]) => first?.cause === undefined),
  ].slice(0, MAX_LISTED);
  const more = waiting.length - listed.reduce((sum, group) => sum + group.length, 0);
  const texts = listed.flatMap((group) =>
    group.slice(0, 1).map(({ title, reason, cause }) => {
      const text = cause === undefined ? reason : `${reason} (${cause})`;
      return `${title} on ${nameMembers(group.map(({ cluster }) => cluster))}: ${shorten(text, MAX_REASON_CHARACTERS)}`;
    }),
  );
  return `${texts.join("; ").replace(/\.$/, "")}${more > 0 ? `; and ${more} more` : ""}`;
}
