/** The texts of the conditions of `plan-notice.ts`. Pure. */
import type { UnreturnedPods } from "@flotilla/kubernetes";
import { controllerOf, type KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ResourceBinding } from "@flotilla/karmada";
import { renderRetainedFields } from "../../interpreter/retained-fields.ts";
import type { RetainedField } from "../../interpreter/retained-fields.ts";
import type { Notice } from "./plan-notice.ts";

/** `owner` is the user's object that has the rule. Undefined when no rule takes anything from the hub. */
export function memberDecidesNotice(
  retained: readonly RetainedField[] = [],
  owner = "a user's rule",
): Notice | undefined {
  if (retained.length === 0) return undefined;
  return {
    status: "True",
    reason: "RetainRule",
    message: `the Retain rule of ${owner} ${renderRetainedFields(retained)}; the template's values apply only to objects that are created`,
  };
}

/** `replaced` are the messages of `findReplaced`. */
export const replacedNotice = (replaced: readonly string[]): Notice | undefined =>
  replaced.length === 0 ? undefined : { status: "False", reason: "ReplacedByRule", message: replaced.join("; ") };

/** Part of the message, by which others recognise it. */
export const NOT_ROLLED_BACK = "not rolled back from the release";
/** Names in a message; the rest is counted. */
const MAX_NAMED = 10;

/** One sentence for each reason. */
export function renderUnreturned(unreturned: readonly UnreturnedPods[] = []): string[] {
  return [...Map.groupBy(unreturned, ({ why }) => why)].map(([why, members]) => {
    const asked = members.reduce((sum, each) => sum + each.asked, 0);
    const updated = members.reduce((sum, each) => sum + each.updated, 0);
    const names = members.slice(0, MAX_NAMED).map(({ cluster }) => cluster);
    const more = members.length > MAX_NAMED ? ` and ${members.length - MAX_NAMED} more` : "";
    const pods = updated - asked === 1 ? "1 pod is" : `${updated - asked} pods are`;
    return `${pods} ${NOT_ROLLED_BACK} on ${names.join(", ")}${more}, where ${updated} have it instead of ${asked}: ${why}`;
  });
}

export function rolledBackNotice(unreturned: readonly UnreturnedPods[] = []): Notice | undefined {
  const texts = renderUnreturned(unreturned);
  return texts.length === 0
    ? undefined
    : { status: "False", reason: "NotPossible", message: `${texts.join("; ")}; ${RETURN_ADVICE}` };
}

/** What rolls such pods back. */
export const RETURN_ADVICE = "release the previous template to replace them";

/** Finalizers that the API server removes itself: what waits for them does not wait for a controller. */
const OF_SERVER: ReadonlySet<string> = new Set(["foregroundDeletion", "orphan"]);

/** A template whose deletion waits for controllers, which members do not see: their copies stay until it is gone. */
export function terminatingNotice({ metadata }: DeepReadonly<KubernetesObject>): Notice | undefined {
  const { deletionTimestamp, finalizers = [] } = metadata;
  const held = finalizers.filter((finalizer) => !OF_SERVER.has(finalizer));
  if (deletionTimestamp === undefined || held.length === 0) return undefined;
  return {
    status: "False",
    reason: "Terminating",
    message: `it is being deleted on the hub since ${deletionTimestamp} and waits for the finalizer ${held.join(", ")}; members keep their copies until then`,
  };
}

/**
 * For a binding whose template the hub does not have. Garbage collection deletes one that has an owner; a deletion that
 * orphans dependents removes the owner. Whether someone asked for that is not recorded: the copies stay. `hasNamesake`: a
 * new object has the name.
 */
export function orphanNotice(binding: DeepReadonly<ResourceBinding>, hasNamesake: boolean): Notice | undefined {
  const { resource } = binding.spec;
  if (controllerOf(binding)) return undefined;
  const cause =
    resource.kind === "Job"
      ? "by --cascade=orphan, or without a propagation policy, which the API takes for the same of a Job"
      : "by --cascade=orphan";
  const object = `${resource.kind} ${resource.name}`;
  const subject = hasNamesake ? `the ${object} of the hub is a new one, that of the copies` : object;
  return {
    status: "False",
    reason: "NoTemplate",
    message: `${subject} is not on the hub, and nothing owns its binding, so members keep the copies; a deletion leaves it so ${cause}`,
  };
}
