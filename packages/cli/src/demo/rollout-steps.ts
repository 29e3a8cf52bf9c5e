/**
 * The second part: an in-place update that stops at a fleet-wide partition, its completion, and the same application
 * through Open Cluster Management.
 */
import { CloneSet } from "@flotilla/openkruise";
import { ManifestWork } from "@flotilla/ocm";
import { HUB } from "@flotilla/apimachinery";
import type { JsonPatchStep, Target } from "./actions.ts";
import { countPods, showShares } from "./fleet-view.ts";
import type { PodView } from "./fleet-view.ts";
import { APP, OCM_REPLICAS, PARTITION, REPLICAS } from "./manifests.ts";
import type { Stage, Step, Verdict } from "./stage.ts";
import type { Memory } from "./memory.ts";

const WEB: Target = { kind: CloneSet, namespace: "shop", name: "web" };
const UPDATED = REPLICAS - PARTITION;
/** A held rollout must be unchanged after this time; controllers act within milliseconds. */
const HELD_MS = 1_500;
const OCM_MEMBER = "member3";

const isNew = ({ image, ready }: PodView): boolean => ready && image.endsWith("/shop/web:1.1");

export function rolloutSteps(memory: Memory, now: () => number): Step[] {
  let heldSinceMs: number | undefined;
  const kept = (pods: readonly PodView[]): number =>
    pods.filter(({ uid }) => memory.pods.some((pod) => pod.uid === uid)).length;
  const patch = (stage: Stage, ...steps: JsonPatchStep[]): Promise<void> =>
    stage.perform({ do: "patch", target: WEB, patch: steps });

  async function look({ view, members }: Stage, wanted: number): Promise<Verdict> {
    const pods = await view.pods(members, "shop");
    const { isCurrent, ready, updated } = await view.rollout();
    const fresh = countPods(pods, members, isNew);
    const total = Object.values(fresh).reduce((sum, count) => sum + count, 0);
    const seen =
      total === wanted &&
      pods.length === REPLICAS &&
      kept(pods) === REPLICAS &&
      isCurrent &&
      ready === REPLICAS &&
      updated === wanted;
    return {
      seen,
      text:
        `version 1.1: ${showShares(fresh)}, together ${total} of ${REPLICAS}; ${kept(pods)} of ${REPLICAS} pods ` +
        `are the same as before, and the hub counts ${updated} updated`,
    };
  }

  return [
    {
      title: `A new image with a fleet-wide partition of ${PARTITION}: ${UPDATED} pods are updated in place, not ${UPDATED} on each member`,
      limitMs: 45_000,
      act: (stage) =>
        patch(
          stage,
          { op: "add", path: "/spec/updateStrategy/partition", value: PARTITION },
          { op: "replace", path: "/spec/template/spec/containers/0/image", value: `${APP}:1.1` },
        ),
      async observe(stage) {
        const verdict = await look(stage, UPDATED);
        heldSinceMs = verdict.seen ? (heldSinceMs ?? now()) : undefined;
        return { seen: heldSinceMs !== undefined && now() - heldSinceMs >= HELD_MS, text: verdict.text };
      },
      show: async (stage) => void (await stage.flotilla("why", "cloneset/web", "-n", "shop")),
    },
    {
      title: "The partition is removed, and the update completes",
      limitMs: 45_000,
      act: (stage) => patch(stage, { op: "replace", path: "/spec/updateStrategy/partition", value: 0 }),
      observe: (stage) => look(stage, REPLICAS),
      show: (stage) => stage.perform({ do: "get", cluster: HUB, kind: CloneSet, namespace: "shop" }),
    },
    {
      title: `The same application through Open Cluster Management: a ManifestWork for ${OCM_MEMBER}, on the same hub`,
      limitMs: 45_000,
      act: (stage) => stage.perform({ do: "apply", file: "work.yaml" }),
      async observe({ view }) {
        const pods = await view.pods([OCM_MEMBER], "shop-ocm");
        const { isApplied, isAvailable, feedback } = await view.work(OCM_MEMBER);
        const running = pods.filter(({ ready }) => ready).length;
        const seen = isApplied && isAvailable && running === OCM_REPLICAS && feedback["readyReplicas"] === OCM_REPLICAS;
        return {
          seen,
          text:
            `${running} of ${OCM_REPLICAS} pods are Ready on ${OCM_MEMBER}; the feedback on the hub is ` +
            `readyReplicas=${feedback["readyReplicas"] ?? "nothing yet"}`,
        };
      },
      show: (stage) => stage.perform({ do: "get", cluster: HUB, kind: ManifestWork, namespace: OCM_MEMBER }),
    },
  ];
}
