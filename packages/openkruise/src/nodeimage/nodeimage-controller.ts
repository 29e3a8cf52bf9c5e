/**
 * NodeImage: one for each node, with the labels of the node, and without tags that no job needs any more.
 *
 * Reads: Node, NodeImage, ImagePullJob.
 * Writes: NodeImage; its status only for pulls that the node does not report in time.
 * After: ImagePullJobs add tags. The daemon of the node pulls them and reports.
 */
import { isNotFound } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { ObjectKey } from "@flotilla/client";
import { defineKeyedController, done, idOfKey, unlessChanged, watch } from "@flotilla/controller-runtime";
import type { Controller, ObjectEvent } from "@flotilla/controller-runtime";
import { createExpectations, Node } from "@flotilla/kubernetes";
import type { WorkloadDependencies } from "@flotilla/kubernetes";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { NodeImage } from "./nodeimage-kind.ts";
import { failedReport, findSilentTags, planNodeImage, tagStatusOf, withReports } from "./plan-nodeimage.ts";

/** A NodeImage with this label belongs to no node; tests use it. */
const FAKE_LABEL = "apps.kruise.io/fake-nodeimage";

/** `jobKind` is the kind of the objects that own tags. */
export function createNodeImageController(deps: WorkloadDependencies, jobKind: Kind): Controller<ObjectKey> {
  const { client, informers, clock } = deps;
  const nodes = informers.of(Node);
  const nodeImages = informers.of(NodeImage);
  const jobs = informers.of(jobKind);
  const seen = createExpectations(nodeImages, clock);
  const events = deps.events?.("nodeimage-controller");

  return defineKeyedController<ObjectKey>({
    name: "nodeimage",
    writes: [NodeImage],
    sources: [
      watch(Node, (event) => (concerns(event) ? [nameOf(event)] : [])),
      watch(NodeImage, (event) => [nameOf(event)]),
      // Tags of a job leave with it.
      watch(jobKind, ({ cluster, deleted }) =>
        deleted ? nodeImages.list({ cluster }).map(({ metadata }) => ({ cluster, name: metadata.name })) : [],
      ),
    ],
    idOf: idOfKey,

    async reconcile(key, { signal }) {
      const { cluster } = key;
      const owner = { cluster, uid: key.name };
      const waitMs = seen.waitMs(owner);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      const node = nodes.get(key);
      const nodeImage = nodeImages.get(key);
      const isNodeGone = !node || node.metadata.deletionTimestamp !== undefined;
      if (!nodeImage) {
        if (!isNodeGone && isReady(node)) await create(key, node.metadata.labels, signal);
        return done;
      }
      if (nodeImage.metadata.deletionTimestamp !== undefined) return done;
      if (isNodeGone && nodeImage.metadata.labels?.[FAKE_LABEL] === undefined) {
        await client
          .delete(NodeImage, key, { preconditions: { uid: nodeImage.metadata.uid }, signal })
          .catch(ignoreGone);
        return done;
      }
      const { nodeImage: changed, requeueAfterMs } = planNodeImage(nodeImage, {
        labels: node ? node.metadata.labels : nodeImage.metadata.labels,
        exists: (one) =>
          one.kind !== jobKind.kind ||
          jobs.get({ cluster, namespace: one.namespace, name: one.name ?? "" })?.metadata.uid === one.uid,
        nowMs: clock.now(),
      });
      if (changed) {
        const written = await unlessChanged(client.update(NodeImage, cluster, changed, { signal }));
        if (written) seen.wrote(owner, written);
        return done; // The change reconciles it again.
      }
      const silent = await failSilentTags(nodeImage, key, signal);
      const waits = [requeueAfterMs, silent].filter((ms) => ms !== undefined);
      return waits.length > 0 ? { requeueAfterMs: Math.min(...waits) } : done;
    },
  });

  async function create(key: ObjectKey, labels: Readonly<Record<string, string>> | undefined, signal: AbortSignal) {
    const nodeImage = {
      apiVersion: "apps.kruise.io/v1beta1",
      kind: "NodeImage",
      metadata: { name: key.name, labels },
      spec: {},
    };
    seen.wrote(
      { cluster: key.cluster, uid: key.name },
      await client.create(NodeImage, key.cluster, nodeImage, { signal }),
    );
  }

  async function failSilentTags(
    nodeImage: NonNullable<ReturnType<typeof nodeImages.get>>,
    key: ObjectKey,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const nowMs = clock.now();
    const { failed, requeueAfterMs } = findSilentTags(nodeImage, nowMs);
    if (failed.length === 0) return requeueAfterMs;
    const reports = failed.map(({ name, spec, message }) => ({
      name,
      report: failedReport(spec, message, nowMs, tagStatusOf(nodeImage, name, spec.tag)),
    }));
    const status = withReports(nodeImage, reports);
    await unlessChanged(client.updateStatus(NodeImage, key.cluster, { ...nodeImage, status }, { signal }));
    for (const { name, spec, message } of failed)
      events?.record(key.cluster, nodeImage, {
        type: "Warning",
        reason: "PullImageFailed",
        message: `Failed to pull image ${name}:${spec.tag} on node ${key.name} for ${message}`,
      });
    return undefined;
  }
}

const nameOf = ({ cluster, object }: ObjectEvent): ObjectKey => ({ cluster, name: object.metadata.name });

function ignoreGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

const isReady = ({ status }: DeepReadonly<Node>): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;

/** Heartbeats do not matter. */
function concerns({ object, old, deleted }: ObjectEvent<Node>): boolean {
  return deleted || !old || isReady(old) !== isReady(object) || !equalJson(old.metadata.labels, object.metadata.labels);
}
