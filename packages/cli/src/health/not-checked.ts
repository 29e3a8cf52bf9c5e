/** Orders what was not checked: it comes before everything else, because what follows says nothing about it. Pure. */

/** Why a pull-mode member cannot be read: the user set it up like this, so a problem comes before it. */
export const UNREACHABLE_BY_DESIGN = "it uses pull mode, and the hub cannot reach it";

/** Of a member with a problem, most cannot be checked for the same reason, which its problem states: that follows it. */
export function splitNotChecked(
  lines: readonly string[],
  membersWithProblem: ReadonlySet<string>,
): { first: string[]; following: string[] } {
  const isFollowing = (line: string): boolean =>
    line.endsWith(UNREACHABLE_BY_DESIGN) || line.split(/[\s:,;'"]+/).some((word) => membersWithProblem.has(word));
  return { first: lines.filter((line) => !isFollowing(line)), following: lines.filter(isFollowing) };
}
