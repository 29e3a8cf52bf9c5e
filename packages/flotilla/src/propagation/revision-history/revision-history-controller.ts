/**
 * Keeps the revisions of propagated Deployments, StatefulSets and DaemonSets on the hub, where `kubectl rollout history`
 * and `undo` read them. Members number their own revisions.
 *
 * Reads: templates of these kinds, ResourceBinding; ReplicaSet and ControllerRevision of the hub.
 * Writes: ReplicaSet and ControllerRevision, owned by the template; the annotation `deployment.kubernetes.io/revision`
 * of a Deployment from its second revision on, which members do not get.
 */
import { controllerOf, isAlreadyExists, parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { bindingName, ResourceBinding } from "@flotilla/karmada";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import {
  ControllerRevision,
  createExpectations,
  createRevisionHistory,
  daemonSetRevisions,
  Deployment,
  indexOwners,
  ownedBy,
  planHistory,
  planRevisions,
  ReplicaSet,
  DEPLOYMENT_REVISION_ANNOTATION,
  statefulSetRevisions,
} from "@flotilla/kubernetes";
import type { DaemonSet, Owner, RevisionFormat, StatefulSet } from "@flotilla/kubernetes";
import { defineKeyedController, done, keyOf, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, Informers, Lister, Result } from "@flotilla/controller-runtime";
import { keyOfTemplate } from "../templates/templates.ts";
import type { TemplateKey, Templates } from "../templates/templates.ts";
import { planReplicaSets } from "./plan-replica-sets.ts";

export interface RevisionHistoryDependencies {
  hub: string;
  client: Client;
  informers: Informers;
  bindings: Lister<ResourceBinding>;
  templates: Pick<Templates, "find" | "source">;
  clock: Clock;
}

const KINDS: ReadonlySet<string> = new Set(["Deployment", "StatefulSet", "DaemonSet"]);
/** Another object may have the name of a revision; a second one of another hash as well is a coincidence. */
const MAX_COLLISIONS = 5;

const hasHistory = (apiVersion: string, kind: string): boolean =>
  KINDS.has(kind) && parseApiVersion(apiVersion).group === "apps";

export function createRevisionHistoryController(deps: RevisionHistoryDependencies): Controller<TemplateKey> {
  const { hub, client, informers, bindings, templates, clock } = deps;
  indexOwners(informers, [ReplicaSet, ControllerRevision]);
  const sets = informers.of(ReplicaSet);
  const setsSeen = createExpectations(sets, clock);
  const history = createRevisionHistory({ client, informers, clock });

  /** A revision that was deleted is recorded again if it is the newest. */
  const ownersOf = (object: DeepReadonly<KubernetesObject>): TemplateKey[] => {
    const owner = controllerOf(object);
    return owner && hasHistory(owner.apiVersion, owner.kind)
      ? [{ group: "apps", kind: owner.kind, namespace: object.metadata.namespace ?? "", name: owner.name }]
      : [];
  };

  async function createSet(deployment: DeepReadonly<Deployment>, owner: Owner, signal: AbortSignal): Promise<void> {
    const known = ownedBy(sets, hub, owner.uid);
    for (let collisions = 0; collisions < MAX_COLLISIONS; collisions++) {
      const { create } = planReplicaSets(deployment, known, collisions);
      if (!create) return;
      try {
        setsSeen.wrote(owner, await client.create(ReplicaSet, hub, create, { signal }));
        return;
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    }
  }

  async function recordSets(deployment: DeepReadonly<Deployment>, owner: Owner, signal: AbortSignal): Promise<Result> {
    const waitMs = setsSeen.waitMs(owner);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const plan = planReplicaSets(deployment, ownedBy(sets, hub, owner.uid));
    if (plan.create) await createSet(deployment, owner, signal);
    if (plan.update) {
      const written = await unlessChanged(client.update(ReplicaSet, hub, plan.update, { signal }));
      if (written) setsSeen.wrote(owner, written);
    }
    if (plan.revision !== undefined) {
      const change = {
        metadata: { annotations: { [DEPLOYMENT_REVISION_ANNOTATION]: plan.revision } },
      } as unknown as Json;
      await unlessChanged(client.patch(Deployment, keyOf(hub, deployment), change, { type: "merge", signal }));
    }
    for (const set of plan.remove) {
      const preconditions = { uid: set.metadata.uid ?? "" };
      await unlessChanged(client.delete(ReplicaSet, keyOf(hub, set), { preconditions, signal }));
    }
    return done;
  }

  async function recordRevisions<T extends StatefulSet | DaemonSet>(
    format: RevisionFormat<T>,
    object: DeepReadonly<T>,
    owner: Owner,
    signal: AbortSignal,
  ): Promise<Result> {
    const waitMs = history.waitMs(owner);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const known = history.of(owner);
    for (let collisionCount = 0; collisionCount < MAX_COLLISIONS; collisionCount++) {
      const plan = planRevisions(format, object, { known, collisionCount });
      if (plan.write && (await history.write(owner, plan, signal)) === "collision") continue;
      const { revisionHistoryLimit } = object.spec;
      const { name } = plan.update.metadata;
      await history.remove(
        owner,
        planHistory(known, revisionHistoryLimit, ({ metadata }) => metadata.name === name),
        signal,
      );
      break;
    }
    return done;
  }

  return defineKeyedController<TemplateKey>({
    name: "revision-history",
    reads: [ResourceBinding, ReplicaSet, ControllerRevision],
    writes: [ReplicaSet, ControllerRevision],
    idOf: ({ kind, namespace, name }) => `${kind}/${namespace}/${name}`,
    sources: [
      {
        source: templates.source(({ object }) =>
          hasHistory(object.apiVersion, object.kind) ? [keyOfTemplate(object)] : [],
        ),
      },
      // A template is propagated from now on.
      watch<ResourceBinding, TemplateKey>(ResourceBinding, ({ object: { spec }, old }) => {
        const { apiVersion, kind, namespace = "", name } = spec.resource;
        return !old && hasHistory(apiVersion, kind) ? [{ group: "apps", kind, namespace, name }] : [];
      }),
      watch<ReplicaSet, TemplateKey>(ReplicaSet, ({ object, deleted }) => (deleted ? ownersOf(object) : [])),
      watch<ControllerRevision, TemplateKey>(ControllerRevision, ({ object, deleted }) =>
        deleted ? ownersOf(object) : [],
      ),
    ],

    async reconcile(key, { signal }) {
      const template = templates.find(key);
      const { namespace, kind, name } = key;
      const binding = bindings.get({ cluster: hub, namespace, name: bindingName(kind, name) });
      if (!template || template.metadata.deletionTimestamp) return done;
      if (binding?.spec.resource.uid !== template.metadata.uid) return done;
      const owner = { cluster: hub, uid: template.metadata.uid ?? "" };
      if (kind === "Deployment") return recordSets(template as DeepReadonly<Deployment>, owner, signal);
      return kind === "StatefulSet"
        ? recordRevisions(statefulSetRevisions, template as DeepReadonly<StatefulSet>, owner, signal)
        : recordRevisions(daemonSetRevisions, template as DeepReadonly<DaemonSet>, owner, signal);
    },
  });
}
