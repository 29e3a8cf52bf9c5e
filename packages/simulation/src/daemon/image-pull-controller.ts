/**
 * OpenKruise's daemon on every simulated node: pulls the images of its NodeImage.
 *
 * Reads: NodeImage, Node.
 * Writes: NodeImage status.
 */
import type { Clock } from "@flotilla/base";
import type { Client, ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, EventRecorder, Informers } from "@flotilla/controller-runtime";
import { createExpectations, Node } from "@flotilla/kubernetes";
import { NodeImage } from "@flotilla/openkruise";
import { isLost } from "../nodes/lifecycle-controller.ts";
import { planPulls } from "./plan-pulls.ts";

export interface ImagePullDependencies {
  client: Client;
  informers: Informers;
  clock: Clock;
  events?: EventRecorder;
}

export function createImagePullController(deps: ImagePullDependencies): Controller<ObjectKey> {
  const { client, informers, clock, events } = deps;
  const nodes = informers.of(Node);
  const nodeImages = informers.of(NodeImage);
  const seen = createExpectations(nodeImages, clock);

  return defineKeyedController<ObjectKey>({
    name: "kruise-daemon-images",
    writes: [NodeImage],
    sources: [
      watch(NodeImage, ({ cluster, object }) => [{ cluster, name: object.metadata.name }]),
      watch(Node, ({ cluster, object, old }) =>
        old && isLost(old) && !isLost(object) ? [{ cluster, name: object.metadata.name }] : [],
      ),
    ],
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const nodeImage = nodeImages.get(key);
      const node = nodes.get(key);
      if (!nodeImage || nodeImage.metadata.deletionTimestamp !== undefined || !node || isLost(node)) return done;
      const owner = { cluster: key.cluster, uid: key.name };
      const waitMs = seen.waitMs(owner);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const { status, ended, requeueAfterMs } = planPulls(nodeImage, clock.now());
      if (status) {
        const written = await unlessChanged(
          client.updateStatus(NodeImage, key.cluster, { ...nodeImage, status }, { signal }),
        );
        if (!written) return done; // The change reconciles it again.
        seen.wrote(owner, written);
        for (const { image, failure } of ended)
          events?.record(
            key.cluster,
            nodeImage,
            failure === undefined
              ? { type: "Normal", reason: "PullImageSucceed", message: `Image ${image}` }
              : { type: "Warning", reason: "PullImageFailed", message: `Image ${image} ${failure}` },
          );
      }
      return requeueAfterMs === undefined ? done : { requeueAfterMs };
    },
  });
}
