/** Problems of a user's Retain rules; commands read them without the rules of the kinds. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import { RELEASE_STOPPED } from "../flotilla-names.ts";
import type { Explanation, Problem } from "./explanation.ts";

const MAX_KEPT_FIELDS = 3;
const MAX_KEPT_MEMBERS = 3;

type Member = DeepReadonly<Explanation["members"][number]>;
type Field = NonNullable<Member["onMember"]>[number];

/** Values that a user's Retain rule keeps or sets on members, although the hub asks for others. */
export function retainProblems(
  members: readonly Member[],
  isAbout: (field: Field, member: Member) => boolean,
): Problem[] {
  const kept = members.flatMap((member) => {
    const { cluster, onMember = [], ruleGives = [], onMemberBy, ruleSets = [], reason } = member;
    const [fields = [], given = []] = [onMember, ruleGives].map((all) => all.filter((each) => isAbout(each, member)));
    // A release that is stopped for the same fields is a problem of its own.
    if (onMemberBy === undefined || reason === RELEASE_STOPPED) return [];
    const text = (value: unknown): string => (value === undefined ? "unset" : JSON.stringify(value));
    const shown = [
      ...fields.map(({ path, before, after }) => `${path} is ${text(after)} instead of ${text(before)}`),
      ...given.map(
        ({ path, before, after }) => `${path} is ${text(before)}, and the rule gives ${text(after)}, not written yet`,
      ),
    ].slice(0, MAX_KEPT_FIELDS);
    if (shown.length === 0) return [];
    const isSet = [...fields, ...given].every(({ path }) => ruleSets.includes(path));
    const does = isSet ? "sets values on members" : "keeps values of members";
    return [{ rule: `the Retain rule of ${onMemberBy} ${does}`, what: `${cluster}: ${shown.join(", ")}` }];
  });
  return [...Map.groupBy(kept, ({ rule }) => rule)].map(([rule, ofOwner]) => ({
    what: `${rule}: ${ofOwner
      .slice(0, MAX_KEPT_MEMBERS)
      .map(({ what }) => what)
      .join("; ")}${ofOwner.length > MAX_KEPT_MEMBERS ? ` and ${ofOwner.length - MAX_KEPT_MEMBERS} more members` : ""}`,
    try: "if the hub should decide these fields, remove them from the rule",
  }));
}
