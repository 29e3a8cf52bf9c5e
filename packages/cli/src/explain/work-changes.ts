/**
 * Plans the objects of Open Cluster Management among the manifests: what ManifestWorks change on their members. The
 * hub tries the manifests inside a work in a dry run of their own, so that mistakes show before a member rejects them.
 */
import { ApiError, HUB, isAnsweredElsewhere, isNotFound, objectTitle, isForbidden } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { createKindResolver, UnknownKindError } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { manifestsOf, planTakenManifest, planWorkChanges } from "@flotilla/flotilla";
import type { MemberChange } from "@flotilla/flotilla";
import { Namespace } from "@flotilla/kubernetes";
import { ManifestWork } from "@flotilla/ocm";
import type { Applied } from "./apply-input.ts";
import { createDryRunClient } from "./dry-run-client.ts";
import type { PlanProblem } from "./own-changes.ts";
import { readMemberObjects } from "./read-member-objects.ts";
import { isOf } from "./is-of-kind.ts";

type Object = DeepReadonly<KubernetesObject>;
type Work = DeepReadonly<ManifestWork>;

export interface OcmChanges {
  changes: MemberChange[];
  problems: PlanProblem[];
  notes: string[];
}

const TRIED = { fieldManager: "kubectl", force: true, fieldValidation: "Strict" } as const;

export async function planOcmChanges(
  deps: { client: Client; clock: Clock; signal: AbortSignal },
  applied: readonly Applied[],
): Promise<OcmChanges> {
  const { client, signal } = deps;
  const planned: OcmChanges = { changes: [], problems: [], notes: [] };
  const changed = applied.filter(({ outcome }) => outcome !== "unchanged");
  const works = changed.filter(({ object }) => isOf(ManifestWork, object));
  const kinds = await kindsOf(
    client,
    works.flatMap(({ before, object }) => [...manifestsIn(before), ...manifestsIn(object)]),
  );
  for (const { before, object } of works) {
    const { changes, notes } = planWorkChanges(
      before as Work | undefined,
      object as Work,
      (manifest) => kinds.get(idOf(manifest))?.plural,
    );
    planned.notes.push(...notes);
    await addTaken(planned, object as Work, changes, (manifest) => kinds.get(idOf(manifest))?.plural, deps);
    planned.problems.push(...(await tryManifests(client, object, kinds, signal)));
  }
  return planned;
}

/** Adds the changes as they end on a member that already has an object of that name. */
async function addTaken(
  planned: OcmChanges,
  work: Work,
  changes: readonly MemberChange[],
  resourceOf: (object: Object) => string | undefined,
  deps: { client: Client; clock: Clock; signal: AbortSignal },
): Promise<void> {
  const created = changes.filter(({ action }) => action === "create");
  const { found, unread } = await readMemberObjects(deps, created);
  for (const change of changes) {
    const observed = found.get(change);
    const ended = observed && (await planTakenManifest(work, change, observed, resourceOf));
    if (!ended) planned.changes.push(change);
    else if (ended.outcome === "change") planned.changes.push(ended.change);
    else if (ended.outcome === "none") planned.notes.push(`${objectTitle(withMetadata(change))}: ${ended.note}`);
    else planned.problems.push({ resource: objectTitle(work), message: ended.message });
  }
  for (const [cluster, { changes: left, reason }] of unread)
    planned.notes.push(
      `${cluster}: not checked whether it already has ${left.map((change) => objectTitle(withMetadata(change))).join(", ")}: ${reason}`,
    );
}

const withMetadata = ({ object: { apiVersion, kind, namespace, name } }: MemberChange): Object => ({
  apiVersion,
  kind,
  metadata: { namespace, name },
});

/** What the hub rejects of the manifests inside a work. Manifests that the hub cannot check are left to the member. */
async function tryManifests(
  client: Client,
  work: Object,
  kinds: ReadonlyMap<string, AnyKind>,
  signal: AbortSignal,
): Promise<PlanProblem[]> {
  const dry = createDryRunClient(client, signal);
  const manifests = manifestsIn(work);
  const namespaces = new Set(manifests.flatMap(({ metadata }) => metadata.namespace || []));
  const attempt = async (kind: Kind, object: Object): Promise<PlanProblem[]> => {
    try {
      await dry.apply(kind, HUB, object, { ...TRIED, signal });
      return [];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return isForbidden(error) || isNotFound(error) || isAnsweredElsewhere(error)
        ? []
        : [{ resource: objectTitle(work), message: `${objectTitle(object)}: ${messageOf(error)}` }];
    }
  };
  // The hub may lack namespaces that the member has.
  await Promise.all(
    [...namespaces].map((name) => attempt(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } })),
  );
  const tried = manifests.map((object) => {
    const kind = kinds.get(idOf(object));
    return kind ? attempt(kind, object) : Promise.resolve([]);
  });
  return (await Promise.all(tried)).flat();
}

/** By apiVersion and kind; without kinds that the hub does not serve. */
async function kindsOf(client: Client, objects: readonly Object[]): Promise<Map<string, AnyKind>> {
  const resolver = createKindResolver({ client, cluster: HUB });
  const found = new Map<string, AnyKind>();
  for (const object of new Map(objects.map((each) => [idOf(each), each])).values()) {
    try {
      found.set(idOf(object), await resolver.resolve(object));
    } catch (error) {
      if (!(error instanceof UnknownKindError)) throw error;
    }
  }
  return found;
}

/** As the member gets them, without manifests that are not objects. */
const manifestsIn = (work: Object | undefined): Object[] =>
  (work ? manifestsOf(work as Work) : []).flatMap(({ object, problem }) => (problem === undefined ? [object] : []));

const idOf = ({ apiVersion, kind }: Object): string => `${apiVersion}/${kind}`;
