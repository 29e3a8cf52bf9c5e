/** Resolves which objects are adopted, and reads each member's copies. Reads the members; writes nothing. */
import { formatApiVersion, parseApiVersion } from "@flotilla/apimachinery";
import { HorizontalPodAutoscaler, SERVICE_ACCOUNT_TOKEN_TYPE } from "@flotilla/kubernetes";
import { FlotillaError, UsageError } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { AnyKind, Client } from "@flotilla/client";
import { resolveVersions } from "../explain/resolve-type.ts";
import type { Live, MemberReader } from "./member-reader.ts";
import type { Copy } from "./merge-copies.ts";
import { titleOf } from "./strip.ts";

export type Readers = ReadonlyMap<string, MemberReader>;

/** Objects of one type: the named ones, or without names all that `labelSelector` selects. */
interface Selection {
  type: string;
  names: readonly string[];
}

/** One object and the members' copies of it, in the order of --from. */
export interface Found {
  kind: AnyKind;
  copies: readonly [Copy, ...Copy[]];
}

interface SelectOptions {
  readers: Readers;
  namespace: string;
  labelSelector?: string;
}

/** `cloneset web api`, or `cloneset/web service/web`. */
export function readSelections(args: readonly string[], isWhole: boolean): Selection[] {
  const [first = "", ...rest] = args;
  if (!first.includes("/")) {
    if (rest.some((name) => name.includes("/")))
      throw new UsageError("name objects either as TYPE NAME... or as TYPE/NAME..., not both");
    if (isWhole === rest.length > 0)
      throw new UsageError(
        isWhole
          ? "specify either names, or --all or -l, not both"
          : `specify which objects to adopt: a name, -l SELECTOR or --all; for example 'flotilla adopt ${first || "deployment"} web --from member1'`,
      );
    return [{ type: first, names: rest }];
  }
  if (isWhole) throw new UsageError("with --all or -l, specify only a type");
  return args.map((word) => {
    const [type = "", name = "", more] = word.split("/");
    if (!type || !name || more !== undefined) throw new UsageError(`'${word}' is not TYPE/NAME`);
    return { type, names: [name] };
  });
}

export async function findObjects(
  client: Client,
  { type, names }: Selection,
  { readers, namespace, labelSelector }: SelectOptions,
  signal: AbortSignal,
): Promise<Found[]> {
  const kind = await commonVersion(readers, await resolveVersions(client, type, signal));
  const found =
    names.length > 0
      ? await Promise.all(names.map((name) => findNamed(kind, { namespace, name }, readers)))
      : await findSelected(kind, { readers, namespace, labelSelector: labelSelector || undefined });
  return kind.scope === "Namespaced" ? withAutoscalers(found, readers, namespace) : found;
}

async function findSelected(kind: AnyKind, { readers, namespace, labelSelector }: SelectOptions): Promise<Found[]> {
  const byName = new Map<string, Copy[]>();
  for (const [cluster, reader] of readers) {
    for (const object of await reader.list(kind, { namespace, labelSelector: labelSelector || undefined })) {
      if (controllerOf(object) || isClustersOwn(object) || object.metadata.deletionTimestamp) continue;
      const copies = byName.get(object.metadata.name);
      if (copies) copies.push({ cluster, object });
      else byName.set(object.metadata.name, [{ cluster, object }]);
    }
  }
  return [...byName.values()].map((copies) => ({ kind, copies: copies as [Copy, ...Copy[]] }));
}

/** Marks the copies that an autoscaler on their member scales. */
async function withAutoscalers(found: readonly Found[], readers: Readers, namespace: string): Promise<Found[]> {
  const scaled = new Set<string>();
  for (const [cluster, reader] of readers) {
    for (const autoscaler of await reader.list(HorizontalPodAutoscaler as unknown as AnyKind, { namespace })) {
      const { scaleTargetRef } = (autoscaler as DeepReadonly<HorizontalPodAutoscaler>).spec;
      scaled.add(
        `${cluster} ${parseApiVersion(scaleTargetRef.apiVersion ?? "").group}/${scaleTargetRef.kind}/${scaleTargetRef.name}`,
      );
    }
  }
  const marked = ({ group, kind }: AnyKind, copy: Copy): Copy =>
    scaled.has(`${copy.cluster} ${group}/${kind}/${copy.object.metadata.name}`)
      ? { ...copy, isAutoscaled: true }
      : copy;
  return found.map(({ kind, copies: [first, ...others] }) => ({
    kind,
    copies: [marked(kind, first), ...others.map((copy) => marked(kind, copy))],
  }));
}

/** The members' copies of a dependency; undefined where no member has it. */
export async function findNeeded(
  kind: AnyKind,
  key: { namespace?: string; name: string },
  readers: Readers,
): Promise<Found | undefined> {
  const [first, ...others] = await copiesOf(kind, key, readers);
  return first && { kind, copies: [first, ...others] };
}

async function findNamed(kind: AnyKind, key: { namespace: string; name: string }, readers: Readers): Promise<Found> {
  const title = `${kind.kind} ${kind.scope === "Namespaced" ? `${key.namespace}/` : ""}${key.name}`;
  const [first, ...others] = await copiesOf(kind, key, readers);
  const copies = first ? [first, ...others] : [];
  const missing = [...readers.keys()].filter((cluster) => !copies.some((each) => each.cluster === cluster));
  if (!first) throw new FlotillaError("NotFound", `${title} not found on ${missing.join(", ")}`);
  if (missing.length > 0)
    throw new FlotillaError(
      "NotFound",
      `${title} not found on ${missing.join(", ")}; adopt it with --from ${copies.map(({ cluster }) => cluster).join(",")}`,
    );
  for (const { cluster, object } of copies) {
    const owner = controllerOf(object);
    if (owner)
      throw new FlotillaError(
        "Adopt",
        `${title} on ${cluster} is owned by ${owner.kind} ${owner.name}, which would revert changes to it; adopt the owner instead`,
      );
    if (object.metadata.deletionTimestamp) throw new FlotillaError("Adopt", `${title} is being deleted on ${cluster}`);
  }
  return { kind, copies: [first, ...others] };
}

async function copiesOf(kind: AnyKind, key: { namespace?: string; name: string }, readers: Readers): Promise<Copy[]> {
  const found = await Promise.all(
    [...readers].map(async ([cluster, reader]) => ({ cluster, object: await reader.get(kind, key) })),
  );
  return found.flatMap(({ cluster, object }) => (object ? [{ cluster, object }] : []));
}

/** Members with different Kubernetes versions are compared in an API version that all of them and the hub serve. */
async function commonVersion(readers: Readers, kinds: readonly [AnyKind, ...AnyKind[]]): Promise<AnyKind> {
  const lacking = new Set<string>();
  for (const kind of kinds) {
    const served = await Promise.all(
      [...readers].map(async ([cluster, reader]) => ({ cluster, isServed: await reader.serves(kind) })),
    );
    const without = served.filter(({ isServed }) => !isServed);
    if (without.length === 0) return kind;
    for (const { cluster } of without) lacking.add(cluster);
  }
  throw new FlotillaError(
    "Adopt",
    `the hub and ${[...readers.keys()].join(", ")} have no version of ${kinds[0].kind} in common; ` +
      `${[...lacking].join(", ")} ` +
      `lacks ${kinds.map(({ group, storageVersion }) => formatApiVersion(group, storageVersion)).join(" or ")}`,
  );
}

function controllerOf({ metadata }: Live): { readonly kind: string; readonly name: string } | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller);
}

/** Objects that every cluster creates for itself. */
export function isClustersOwn(object: Live): boolean {
  const { name, namespace } = object.metadata;
  if (parseApiVersion(object.apiVersion).group !== "") return false;
  if (object.kind === "ConfigMap") return name === "kube-root-ca.crt";
  if (object.kind === "ServiceAccount") return name === "default";
  if (object.kind === "Secret") return (object as { type?: unknown }).type === SERVICE_ACCOUNT_TOKEN_TYPE;
  return object.kind === "Service" && namespace === "default" && name === "kubernetes";
}

export const keyOf = ({ kind, copies: [{ object }] }: Found): { namespace?: string; name: string } => ({
  namespace: kind.scope === "Namespaced" ? (object.metadata.namespace ?? "") : undefined,
  name: object.metadata.name,
});
export const titleOfFound = ({ copies: [{ object }] }: Found): string => titleOf(object);
