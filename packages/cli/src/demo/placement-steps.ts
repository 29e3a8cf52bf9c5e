/**
 * The first part of the demo: an application is propagated to three members, its status is aggregated, and one member
 * gets an override.
 */
import { CloneSet } from "@flotilla/openkruise";
import { Cluster } from "@flotilla/karmada";
import { Pod } from "@flotilla/kubernetes";
import { HUB } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { countPods, isSame, showShares } from "./fleet-view.ts";
import type { Shares } from "./fleet-view.ts";
import { APP, REPLICAS } from "./manifests.ts";
import type { Step } from "./stage.ts";
import type { Memory } from "./memory.ts";

const MIRROR = "mirror.example.net";

export function placementSteps(memory: Memory): Step[] {
  return [
    {
      title: "Three members have joined the hub",
      limitMs: 30_000,
      async observe({ view, members }) {
        const ready = await view.readyMembers();
        return {
          seen: members.every((member) => ready.includes(member)),
          text: `${ready.length} of ${members.length} members are Ready`,
        };
      },
      show: (stage) => stage.perform({ do: "get", cluster: HUB, kind: Cluster }),
    },
    {
      title: `What would happen? A CloneSet of ${REPLICAS}, and a policy that divides it 2:1:1`,
      limitMs: 30_000,
      async act(stage) {
        await stage.perform({ do: "create-namespace", name: "shop" });
        memory.planned = plannedShares(await stage.flotilla("plan", "-f", "shop.yaml"));
      },
      async observe({ view }) {
        const before = await view.shares();
        const total = Object.values(memory.planned).reduce((sum, replicas) => sum + replicas, 0);
        return {
          seen: total === REPLICAS && Object.keys(before).length === 0,
          text: `the plan is ${showShares(memory.planned)}; nothing was written`,
        };
      },
    },
    {
      title: "It is applied, and divided exactly as planned",
      limitMs: 30_000,
      act: (stage) => stage.perform({ do: "apply", file: "shop.yaml" }),
      async observe({ view }) {
        const shares = await view.shares();
        memory.shares = shares;
        return { seen: isSame(shares, memory.planned), text: `${REPLICAS} replicas are divided ${showShares(shares)}` };
      },
    },
    {
      title: "Every member runs its share, and the hub shows the sum",
      limitMs: 45_000,
      async observe({ view, members }) {
        const pods = await view.pods(members, "shop");
        const { isCurrent, ready, replicas } = await view.rollout();
        memory.pods = pods;
        const running = countPods(pods, members);
        const seen =
          isSame(running, memory.shares) &&
          pods.length === REPLICAS &&
          isCurrent &&
          ready === REPLICAS &&
          replicas === REPLICAS;
        return { seen, text: `Ready on the members: ${showShares(running)}; the hub reports ${ready} of ${REPLICAS}` };
      },
      async show(stage) {
        await stage.perform({ do: "get", cluster: HUB, kind: CloneSet, namespace: "shop" });
        await stage.flotilla("status");
      },
    },
    {
      title: "An override for one member: member2 pulls from a mirror",
      limitMs: 45_000,
      act: (stage) => stage.perform({ do: "apply", file: "mirror.yaml" }),
      async observe({ view, members }) {
        const pods = await view.pods(members, "shop");
        const mirrored = countPods(pods, members, ({ image, ready }) => ready && image.startsWith(`${MIRROR}/`));
        const plain = countPods(pods, members, ({ image, ready }) => ready && image.startsWith(`${APP}:`));
        const seen =
          members.every((member) => (member === "member2" ? mirrored : plain)[member] === memory.shares[member]) &&
          mirrored["member1"] === 0 &&
          mirrored["member3"] === 0;
        memory.pods = pods;
        return { seen, text: `pods with an image of ${MIRROR}: ${showShares(mirrored)}` };
      },
      show: (stage) => stage.perform({ do: "get", cluster: "member2", kind: Pod, namespace: "shop" }),
    },
  ];
}

/** The CloneSet replicas per member in a plan. */
export function plannedShares(plan: Json): Shares {
  const changes =
    isObject(plan) && Array.isArray(plan["changes"]) ? (plan["changes"] as unknown as PlannedChange[]) : [];
  const shares = changes.flatMap(({ cluster, action, object, fields }) => {
    const replicas = fields.find(({ path }) => path === "spec.replicas")?.after;
    return object.kind === CloneSet.kind && action !== "delete" && typeof replicas === "number"
      ? [[cluster, replicas] as const]
      : [];
  });
  return Object.fromEntries(shares.sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface PlannedChange {
  cluster: string;
  action: string;
  object: { kind: string };
  fields: { path: string; after?: Json }[];
}
