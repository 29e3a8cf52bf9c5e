/**
 * PersistentPodState: records where the pods of StatefulSets run.
 *
 * Reads: PersistentPodState, StatefulSets of Kubernetes and OpenKruise, their pods, Node.
 * Writes: PersistentPodState status; the PersistentPodStates that annotations of StatefulSets ask for.
 * After: the pod webhook sends a pod that is created again to the recorded place.
 */
import { controllerOf } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import {
  defineController,
  defineKeyedController,
  done,
  idOfKey,
  keyOf,
  unlessChanged,
  watch,
} from "@flotilla/controller-runtime";
import type { Controller, ObjectEvent } from "@flotilla/controller-runtime";
import { createExpectations, isReady, Node, ownedBy, Pod } from "@flotilla/kubernetes";
import type { WorkloadDependencies } from "@flotilla/kubernetes";
import { generatedPodState, mentionsGeneration } from "./generated-pod-state.ts";
import { PersistentPodState } from "./persistentpodstate-kind.ts";
import { planPodStates } from "./plan-pod-states.ts";
import { TARGET_KINDS, targetKindOf } from "./targets.ts";
import type { Target } from "./targets.ts";

const BY_TARGET = "persistent-pod-state-target";

export function createPersistentPodStateControllers(deps: WorkloadDependencies): Controller<ObjectKey>[] {
  const { client, informers, clock } = deps;
  const states = informers.of(PersistentPodState);
  const pods = informers.of(Pod);
  const nodes = informers.of(Node);
  const seen = createExpectations(states, clock);
  states.addIndex(BY_TARGET, ({ metadata, spec }, cluster) => {
    const kind = targetKindOf(spec.targetRef);
    return kind ? [targetId(cluster, metadata.namespace, kind, spec.targetRef.name)] : [];
  });
  const statesOf = (cluster: string, namespace: string | undefined, kind: Kind<Target>, name: string): ObjectKey[] =>
    states.by(BY_TARGET, targetId(cluster, namespace, kind, name)).map((state) => keyOf(cluster, state));

  function statesOfPod({ cluster, object, old, deleted }: ObjectEvent<Pod>): ObjectKey[] {
    const changes =
      deleted ||
      !old ||
      isReady(old) !== isReady(object) ||
      old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp;
    const owner = changes ? controllerOf(object) : undefined;
    const kind = owner && targetKindOf(owner);
    return kind ? statesOf(cluster, object.metadata.namespace, kind, owner.name) : [];
  }

  const records = defineController({
    name: "persistentpodstate",
    for: PersistentPodState,
    watches: [
      watch(Pod, statesOfPod),
      ...TARGET_KINDS.map((kind) =>
        watch(kind, ({ cluster, object: { metadata } }) => statesOf(cluster, metadata.namespace, kind, metadata.name)),
      ),
    ],
    writes: [PersistentPodState],

    async reconcile(state, { key, signal }) {
      const { cluster, namespace } = key;
      const owner = { cluster, uid: state.metadata.uid ?? "" };
      const waitMs = seen.waitMs(owner);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const kind = targetKindOf(state.spec.targetRef);
      const target = kind && informers.of(kind).get({ cluster, namespace, name: state.spec.targetRef.name });
      const isThere = target?.metadata.deletionTimestamp === undefined;
      const status = planPodStates(state, {
        target: isThere ? target : undefined,
        pods: target ? ownedBy(pods, cluster, target.metadata.uid) : [],
        node: (name) => nodes.get({ cluster, name }),
      });
      if (equalJson(status, state.status)) return done;
      const written = await unlessChanged(
        client.updateStatus(PersistentPodState, cluster, { ...state, status }, { signal }),
      );
      if (written) seen.wrote(owner, written);
      return done;
    },
  });

  return [records, ...TARGET_KINDS.map(createGenerator)];

  function createGenerator(kind: Kind<Target>): Controller<ObjectKey> {
    const targets = informers.of(kind);
    return defineKeyedController<ObjectKey>({
      name: `persistentpodstate-generator-${kind.group.replaceAll(".", "-")}`,
      writes: [PersistentPodState],
      // Few StatefulSets have the annotations; the others never reach the queue.
      sources: [
        watch(kind, ({ cluster, object, old, deleted }) =>
          !deleted && (mentionsGeneration(object) || (old !== undefined && mentionsGeneration(old)))
            ? [keyOf(cluster, object)]
            : [],
        ),
      ],
      idOf: idOfKey,
      async reconcile(key, { signal }) {
        const target = targets.get(key);
        if (!target || target.metadata.deletionTimestamp !== undefined) return done;
        const wanted = generatedPodState(target);
        const present = states.get(key);
        const isOurs = present !== undefined && controllerOf(present)?.uid === target.metadata.uid;
        // Users may add what the annotations cannot express, such as the retention policy.
        if (wanted && !present) await client.create(PersistentPodState, key.cluster, wanted, { signal });
        else if (wanted && isOurs && !equalJson({ ...present.spec, ...wanted.spec }, present.spec))
          await unlessChanged(
            client.update(
              PersistentPodState,
              key.cluster,
              { ...present, spec: { ...present.spec, ...wanted.spec } },
              { signal },
            ),
          );
        else if (!wanted && isOurs)
          await unlessChanged(
            client.delete(PersistentPodState, key, { preconditions: { uid: present.metadata.uid }, signal }),
          );
        return done;
      },
    });
  }
}

const targetId = (cluster: string, namespace: string | undefined, { group }: Kind<Target>, name: string): string =>
  `${cluster}/${namespace ?? ""}/${group}/${name}`;
