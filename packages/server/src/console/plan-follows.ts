/** Decides which containers a log view follows, from those that members have now. Pure. */

export interface LogSource {
  member: string;
  pod: string;
  container: string;
}

export interface FoundContainer extends LogSource {
  isRunning: boolean;
  /** Differs after a restart. */
  run: string;
}

export interface KnownContainer extends LogSource {
  /** Its log is being read. */
  isActive: boolean;
  /** The last attempt has failed. */
  isFailed: boolean;
  /** The run that was read last. */
  run: string;
}

/** As many as `flotilla logs -f` reads by default, and more. */
export const MAX_OPEN = 20;
/** Members are not trusted: pods whose containers have ended are remembered up to this number. */
export const MAX_KNOWN = 500;

export interface FollowPlan {
  open: FoundContainer[];
  forget: string[];
  /** Containers that are not followed because too many others are. */
  leftOut: number;
}

export const sourceId = ({ member, pod, container }: LogSource): string => `${member}/${pod}/${container}`;

/** Plans for one member; `known` has the containers of all. */
export function planFollows(
  member: string,
  found: readonly FoundContainer[],
  known: ReadonlyMap<string, KnownContainer>,
): FollowPlan {
  const present = new Set(found.map(sourceId));
  const forget: string[] = [];
  let active = 0;
  for (const [id, each] of known) {
    if (each.isActive) active += 1;
    // The log of a pod that is gone ends by itself, after its last lines.
    else if (each.member === member && !present.has(id)) forget.push(id);
  }
  const due = found.filter((each) => isDue(each, known.get(sourceId(each))));
  const open: FoundContainer[] = [];
  let leftOut = 0;
  let remembered = known.size - forget.length;
  // Those that write lines come first.
  for (const each of [...due.filter(({ isRunning }) => isRunning), ...due.filter(({ isRunning }) => !isRunning)]) {
    const isNew = !known.has(sourceId(each));
    if (active + open.length >= MAX_OPEN || (isNew && remembered >= MAX_KNOWN)) {
      leftOut += 1;
      continue;
    }
    if (isNew) remembered += 1;
    open.push(each);
  }
  return { open, forget, leftOut };
}

function isDue(found: FoundContainer, known: KnownContainer | undefined): boolean {
  if (!known) return true;
  if (known.isActive) return false;
  return known.isFailed || found.isRunning || found.run !== known.run;
}
