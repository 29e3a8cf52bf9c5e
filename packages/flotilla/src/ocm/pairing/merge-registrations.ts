/**
 * Labels and taints mean the same on both registrations of a member, and users set them on either one. Both are
 * compared with their last agreement: an entry added to or removed from one registration is added to or removed from
 * the other. Entries never flap, because an entry that both have is agreed. Pure.
 *
 * Project-specific entries are not shared: the labels of each project, and the taints by which it reports a member's
 * health.
 */
import type { Cluster } from "@flotilla/karmada";
import type { ManagedCluster } from "@flotilla/ocm";
import { equalJson, isObject, type DeepReadonly, jsonOrUndefined } from "@flotilla/base";

type Taint = NonNullable<Cluster["spec"]["taints"]>[number];
type KarmadaTaints = readonly DeepReadonly<Taint>[];
type ManagedTaints = readonly DeepReadonly<NonNullable<ManagedCluster["spec"]["taints"]>[number]>[];
type Labels = Readonly<Record<string, string>>;

/** The last agreement of both registrations. */
export interface Agreement {
  labels: Labels;
  /** With Karmada's effects. */
  taints: readonly { key: string; value: string; effect: string }[];
}

export interface Merged {
  agreement: Agreement;
  /** Changes to the Cluster; unset if there are none. */
  cluster: { labels?: Readonly<Record<string, string | null>>; taints?: KarmadaTaints };
  managedCluster: { labels?: Readonly<Record<string, string | null>>; taints?: ManagedTaints };
}

export const NOTHING_AGREED: Agreement = { labels: {}, taints: [] };

/**
 * Karmada's NoSchedule and NoExecute correspond to OCM's NoSelectIfNew and NoSelect. OCM's third effect,
 * PreferNoSelect, has no equivalent: Karmada rejects PreferNoSchedule on clusters.
 */
const EFFECTS: readonly (readonly [karmada: string, managed: string])[] = [
  ["NoSchedule", "NoSelectIfNew"],
  ["NoExecute", "NoSelect"],
];
const managedEffect = new Map(EFFECTS);
const karmadaEffect = new Map(EFFECTS.map(([karmada, managed]) => [managed, karmada]));

const OWN_DOMAINS = ["karmada.io", "open-cluster-management.io"];
/** `cluster.karmada.io/x` belongs to Karmada, `x` and `example.com/x` to users. */
function isShared(key: string): boolean {
  const slash = key.indexOf("/");
  const domain = slash < 0 ? "" : key.slice(0, slash);
  return !OWN_DOMAINS.some((own) => domain === own || domain.endsWith(`.${own}`));
}

export function mergeRegistrations(
  cluster: DeepReadonly<Cluster>,
  managed: DeepReadonly<ManagedCluster>,
  before: Agreement,
): Merged {
  const labels = mergeLabels(
    sharedLabels(cluster.metadata.labels),
    sharedLabels(managed.metadata.labels),
    new Map(Object.entries(before.labels)),
  );
  const taints = mergeTaints(cluster.spec.taints ?? [], managed.spec.taints ?? [], before.taints);
  return {
    agreement: { labels: Object.fromEntries(labels), taints: taints.agreed },
    cluster: { ...labelPatch(cluster.metadata.labels, labels), taints: taints.karmada },
    managedCluster: { ...labelPatch(managed.metadata.labels, labels), taints: taints.managed },
  };
}

function sharedLabels(labels: Labels = {}): Map<string, string> {
  return new Map(Object.entries(labels).filter(([key]) => isShared(key)));
}

/** If both changed a label, the Cluster's value wins. */
function mergeLabels(
  mine: Map<string, string>,
  theirs: Map<string, string>,
  before: Map<string, string>,
): Map<string, string> {
  const merged = new Map<string, string>();
  for (const key of new Set([...mine.keys(), ...theirs.keys()])) {
    const [own, other, old] = [mine.get(key), theirs.get(key), before.get(key)];
    const value = own === old ? other : own;
    if (value !== undefined) merged.set(key, value);
  }
  return new Map([...merged].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A merge patch: a label to remove is null. */
function labelPatch(
  labels: Labels = {},
  wanted: ReadonlyMap<string, string>,
): { labels?: Record<string, string | null> } {
  const changes = new Map<string, string | null>();
  for (const [key, value] of wanted) if (labels[key] !== value) changes.set(key, value);
  for (const key of Object.keys(labels)) if (isShared(key) && !wanted.has(key)) changes.set(key, null);
  return changes.size > 0 ? { labels: Object.fromEntries(changes) } : {};
}

interface TaintMerge {
  agreed: Agreement["taints"];
  karmada?: KarmadaTaints;
  managed?: ManagedTaints;
}

function mergeTaints(karmada: KarmadaTaints, managed: ManagedTaints, before: Agreement["taints"]): TaintMerge {
  const idOf = ({ key, value = "", effect }: { key: string; value?: string; effect: string }): string =>
    JSON.stringify([key, value, effect]);
  const known = (key: string, effect: string | undefined): effect is string => effect !== undefined && isShared(key);
  const mine = new Map(
    karmada
      .filter(({ key, effect }) => known(key, managedEffect.get(effect)))
      .map(({ key, value = "", effect }): [string, Agreement["taints"][number]] => [
        idOf({ key, value, effect }),
        { key, value, effect },
      ]),
  );
  const theirs = new Map(
    managed.flatMap(({ key, value = "", effect }) => {
      const same = karmadaEffect.get(effect);
      return known(key, same) ? [[idOf({ key, value, effect: same }), { key, value, effect: same }] as const] : [];
    }),
  );
  const old = new Set(before.map(idOf));
  // Entries in both, or new in one: an entry that is in one only and was agreed on has been removed from the other.
  const agreed = [...new Map([...mine, ...theirs])]
    .filter(([id]) => (mine.has(id) && theirs.has(id)) || !old.has(id))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const ids = new Set(agreed.map(([id]) => id));
  const values = agreed.map(([, taint]) => taint);
  const differs = (present: ReadonlyMap<string, unknown>): boolean =>
    present.size !== ids.size || !present.keys().every((id) => ids.has(id));
  const bare = ({ key, value }: { key: string; value: string }, effect: string) => ({
    key,
    value: value || undefined,
    effect,
  });
  return {
    agreed: values,
    karmada: differs(mine)
      ? [
          ...karmada.filter((taint) => !mine.has(idOf(taint)) || ids.has(idOf(taint))),
          ...values.filter((taint) => !mine.has(idOf(taint))).map((taint) => bare(taint, taint.effect) as Taint),
        ]
      : undefined,
    managed: differs(theirs)
      ? [
          ...managed.filter((taint) => {
            const id = idOf({ ...taint, effect: karmadaEffect.get(taint.effect) ?? "" });
            return !theirs.has(id) || ids.has(id);
          }),
          ...values
            .filter((taint) => !theirs.has(idOf(taint)))
            .map((taint) => bare(taint, managedEffect.get(taint.effect) ?? "")),
        ]
      : undefined,
  };
}

/** On a ManagedCluster: it has a Cluster, and this is their last agreement. */
export const AGREEMENT_ANNOTATION = "flotilla.dev/paired-state";

/** Undefined for a ManagedCluster without a Cluster. An edited annotation is read as far as possible. */
export function agreementOf({ metadata }: DeepReadonly<ManagedCluster>): Agreement | undefined {
  const text = metadata.annotations?.[AGREEMENT_ANNOTATION];
  if (text === undefined) return undefined;
  const read = jsonOrUndefined(text);
  const { labels, taints } = isObject(read) ? read : {};
  return {
    labels: isObject(labels)
      ? Object.fromEntries(
          Object.entries(labels).flatMap(([key, value]) => (typeof value === "string" ? [[key, value]] : [])),
        )
      : {},
    taints: Array.isArray(taints)
      ? taints.flatMap((taint) =>
          isObject(taint) && typeof taint["key"] === "string" && typeof taint["effect"] === "string"
            ? [
                {
                  key: taint["key"],
                  value: typeof taint["value"] === "string" ? taint["value"] : "",
                  effect: taint["effect"],
                },
              ]
            : [],
        )
      : [],
  };
}

/**
 * Whether a ManagedCluster represents the member of the Cluster with its name. One that only requests to join does not;
 * an accepted one does, even before their first agreement is written.
 */
export const isPaired = (cluster: DeepReadonly<ManagedCluster>): boolean =>
  cluster.spec.hubAcceptsClient === true || agreementOf(cluster) !== undefined;

export const agreementText = (agreement: Agreement): string => JSON.stringify(agreement);
export const isSameAgreement = (a: Agreement | undefined, b: Agreement): boolean => a !== undefined && equalJson(a, b);
