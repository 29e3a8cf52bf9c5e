/** The last part: a member fails, its replicas move, it recovers, and the replicas return. */
import { SIMULATED_FAULT } from "@flotilla/flotilla";
import { Cluster } from "@flotilla/karmada";
import { HUB } from "@flotilla/apimachinery";
import type { Target } from "./actions.ts";
import { countPods, isSame, showShares } from "./fleet-view.ts";
import { REPLICAS } from "./manifests.ts";
import { plannedShares } from "./placement-steps.ts";
import type { Step } from "./stage.ts";
import type { Memory } from "./memory.ts";

const FAILING = "member2";
const TARGET: Target = { kind: Cluster, name: FAILING };

export function failureSteps(memory: Memory): Step[] {
  return [
    {
      title: `What if ${FAILING} failed?`,
      limitMs: 30_000,
      async act(stage) {
        memory.planned = plannedShares(await stage.flotilla("plan", "--without-cluster", FAILING));
      },
      async observe({ view }) {
        const total = Object.values(memory.planned).reduce((sum, replicas) => sum + replicas, 0);
        return {
          seen: total === REPLICAS && isSame(await view.shares(), memory.shares),
          text: `the others would run ${showShares(memory.planned)}; nothing was written`,
        };
      },
    },
    {
      title: `${FAILING} is disconnected: its replicas move as planned, and it keeps its pods`,
      limitMs: 60_000,
      async act(stage) {
        await stage.perform({ do: "apply", file: "failover.yaml" });
        await stage.perform({ do: "annotate", target: TARGET, annotation: SIMULATED_FAULT, value: "unreachable" });
      },
      async observe({ view, members }) {
        const shares = await view.shares();
        const ready = await view.readyMembers();
        const running = countPods(await view.pods(members, "shop"), members);
        const others = Object.fromEntries(Object.entries(running).filter(([member]) => member !== FAILING));
        const seen =
          !ready.includes(FAILING) &&
          isSame(shares, memory.planned) &&
          isSame(others, memory.planned) &&
          running[FAILING] === memory.shares[FAILING];
        return {
          seen,
          text:
            `${FAILING} is ${ready.includes(FAILING) ? "still Ready" : "not Ready"}; the hub schedules ` +
            `${showShares(shares)}; Ready on the members: ${showShares(running)}`,
        };
      },
      async show(stage) {
        await stage.perform({ do: "get", cluster: HUB, kind: Cluster });
        await stage.flotilla("why", "cloneset/web", "-n", "shop");
      },
    },
    {
      title: `${FAILING} is back: its replaced copy is removed`,
      limitMs: 60_000,
      act: (stage) => stage.perform({ do: "annotate", target: TARGET, annotation: SIMULATED_FAULT }),
      async observe({ view, members }) {
        const ready = await view.readyMembers();
        const running = countPods(await view.pods(members, "shop"), members);
        const leaving = await view.leaving();
        const seen = ready.length === members.length && running[FAILING] === 0 && leaving.length === 0;
        return {
          seen,
          text: `${ready.length} of ${members.length} members are Ready; Ready on the members: ${showShares(running)}`,
        };
      },
    },
    {
      title: "The fleet is rebalanced according to the weights",
      limitMs: 60_000,
      act: (stage) => stage.perform({ do: "apply", file: "rebalance.yaml" }),
      async observe({ view, members }) {
        const pods = await view.pods(members, "shop");
        const running = countPods(pods, members);
        const { ready, isCurrent } = await view.rollout();
        const seen =
          isSame(await view.shares(), memory.shares) &&
          isSame(running, memory.shares) &&
          pods.length === REPLICAS &&
          ready === REPLICAS &&
          isCurrent;
        return { seen, text: `Ready on the members: ${showShares(running)}; the hub reports ${ready} of ${REPLICAS}` };
      },
      show: async (stage) => void (await stage.flotilla("status")),
    },
  ];
}
