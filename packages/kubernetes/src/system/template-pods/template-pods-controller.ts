/**
 * Ends the deletion of pods on the hub. A pod that names a node waits for the kubelet there; on the hub it is a template,
 * which no kubelet runs.
 *
 * Reads: Pod of the hub.
 * Writes: its deletion.
 */
import { Pod } from "../../pod/pod-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, keyOf, unlessChanged } from "@flotilla/controller-runtime";
import type { Controller } from "@flotilla/controller-runtime";
import type { SystemDependencies } from "../dependencies.ts";
import { createWatchSource } from "../watch-source.ts";

export function createTemplatePodController(
  deps: Pick<SystemDependencies, "client" | "clock" | "log" | "home">,
): Controller<ObjectKey> {
  const { client, clock, log, home } = deps;
  const source = createWatchSource<Pod, ObjectKey>({
    client,
    clock,
    log,
    kind: Pod,
    cluster: home,
    map: ({ cluster, object, deleted }) => (!deleted && isTerminating(object) ? [keyOf(cluster, object)] : []),
    // A watch that starts again begins with the existing objects.
    afterGap: () => [],
  });
  return defineKeyedController<ObjectKey>({
    name: "template-pods",
    writes: [Pod],
    sources: [{ source }],
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const pod = await find(client, Pod, key, { signal });
      if (!pod || !isTerminating(pod)) return done;
      const { uid = "" } = pod.metadata;
      await unlessChanged(client.delete(Pod, key, { gracePeriodSeconds: 0, preconditions: { uid }, signal }));
      return done;
    },
  });
}

const isTerminating = ({ metadata }: DeepReadonly<Pod>): boolean => metadata.deletionTimestamp !== undefined;
