/**
 * Predicts whether the FederatedResourceQuotas of a namespace have room for a changed binding, as admission decides it.
 *
 * Reads: FederatedResourceQuota, and the ResourceBindings of its namespace where its usage is not counted yet.
 * Writes: nothing. A plan notes what its bindings would use, so that the next one finds less room.
 */
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Lister } from "@flotilla/controller-runtime";
import { addAmounts, subtractAmounts } from "@flotilla/kubernetes";
import type { Amounts } from "@flotilla/kubernetes";
import type { FederatedResourceQuota, ResourceBinding } from "@flotilla/karmada";
import { usageOfBinding } from "./binding-usage.ts";
import { planQuotaUsage } from "./plan-quota-usage.ts";
import { chargesOf, growthOf, whyNoRoom } from "./quota-charge.ts";

type Binding = DeepReadonly<Pick<ResourceBinding, "metadata" | "spec">>;
const NONE: Amounts = new Map();

export interface QuotaRoom {
  /** Whether the namespace has a quota. */
  limits(namespace: string | undefined): boolean;
  /** Whether the changed binding uses more of something that a quota limits. */
  isCharged(before: Binding | undefined, after: Binding): boolean;
  /** Why a quota rejects the changed binding; undefined if none does. */
  refusalOf(before: Binding | undefined, after: Binding): string | undefined;
}

export interface PlannedQuotaRoom extends QuotaRoom {
  /** A planned binding is stored: it takes room, or gives it back. */
  note(before: Binding | undefined, after: Binding): void;
}

export interface QuotaLists {
  hub: string;
  quotas: Lister<FederatedResourceQuota>;
  bindings: Lister<ResourceBinding>;
}

export function createQuotaRoom({ hub, quotas, bindings }: QuotaLists): PlannedQuotaRoom {
  /** What planned bindings take and give back, by namespace and name. */
  const noted = new Map<string, Map<string, Change>>();
  const chargesIn = (before: Binding | undefined, after: Binding): ReturnType<typeof chargesOf> => {
    const { namespace } = after.metadata;
    const found = namespace ? quotas.list({ cluster: hub, namespace }) : [];
    return found.length === 0 ? [] : chargesOf(found, growthOf(before, after));
  };
  return {
    limits: (namespace) => Boolean(namespace) && quotas.list({ cluster: hub, namespace }).length > 0,
    isCharged: (before, after) => chargesIn(before, after).length > 0,
    refusalOf(before, after) {
      const charges = chargesIn(before, after);
      if (charges.length === 0) return undefined;
      const namespace = after.metadata.namespace ?? "";
      const stored = bindings.list({ cluster: hub, namespace });
      const others = [...(noted.get(namespace) ?? [])].filter(([name]) => name !== after.metadata.name);
      // What match changed of this binding is stored before schedule changes it.
      const own =
        before &&
        changeOf(
          stored.find(({ metadata }) => metadata.name === after.metadata.name),
          before,
        );
      const changes = [...others.map(([, each]) => each), ...(own ? [own] : [])];
      const taken = changes.map((each) => each.taken).reduce(addAmounts, NONE);
      const given = changes.map((each) => each.given).reduce(addAmounts, NONE);
      for (const [quota, charge] of charges) {
        const { used } = planQuotaUsage(quota, stored, NONE, false);
        const full = whyNoRoom(quota, subtractAmounts(addAmounts(used, taken), given), charge);
        if (full !== undefined) return full;
      }
      return undefined;
    },
    note(before, after) {
      const { namespace, name } = after.metadata;
      if (!namespace || quotas.list({ cluster: hub, namespace }).length === 0) return;
      const inNamespace = noted.get(namespace) ?? new Map<string, Change>();
      noted.set(namespace, inNamespace.set(name, changeOf(before, after)));
    },
  };
}

/** What a changed binding takes of quotas, and gives back. */
interface Change {
  readonly taken: Amounts;
  readonly given: Amounts;
}

function changeOf(before: Binding | undefined, after: Binding): Change {
  if (before === after) return { taken: NONE, given: NONE };
  const [old, next] = [before ? usageOfBinding(before) : NONE, usageOfBinding(after)];
  return { taken: subtractAmounts(next, old), given: subtractAmounts(old, next) };
}

/** Whether a quota was raised, or something in it was given back. */
export function hasMoreRoom(
  before: DeepReadonly<FederatedResourceQuota> | undefined,
  after: DeepReadonly<FederatedResourceQuota>,
): boolean {
  return (
    !equalJson(before?.spec.overall, after.spec.overall) ||
    !equalJson(before?.status?.overallUsed, after.status?.overallUsed)
  );
}
