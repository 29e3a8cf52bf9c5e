/** `flotilla cordon`, `flotilla uncordon` and `flotilla taint`: whether members get new workloads. */
import { UsageError } from "@flotilla/base";
import { CORDON_TAINT } from "@flotilla/karmada";
import { DRAIN_TAINT } from "@flotilla/flotilla";
import { defineCommand } from "../command.ts";
import type { Argument, Command, CommandContext } from "../command.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import { changeTaints, parseTaintChange } from "../membership/taints.ts";
import type { TaintChange } from "../membership/taints.ts";

const members: Argument = {
  name: "MEMBER",
  description: "the members",
  required: true,
  completes: "cluster",
  repeated: true,
};
const flags = {
  "dry-run": { type: "boolean", description: "show what would change, and change nothing" },
  ...hubFlags,
} as const;
type Flags = typeof flags;

/** What `uncordon` removes: it also ends a drain. */
const UNCORDON: readonly TaintChange[] = [
  { type: "remove", key: CORDON_TAINT },
  { type: "remove", key: DRAIN_TAINT },
];
export const CORDON: TaintChange = { type: "add", key: CORDON_TAINT, effect: "NoSchedule" };

export const cordonCommand: Command = defineCommand({
  name: "cordon",
  summary: "keep new workloads away from members; what runs there stays",
  details: `Sets the taint ${CORDON_TAINT}:NoSchedule, as karmadactl cordon does. 'flotilla drain' also moves away what runs there.`,
  example: [{ says: "Keep new workloads away from a member.", run: "flotilla cordon member2" }],
  args: [members],
  flags,
  run: (context) => change(context, new Set(context.args), [CORDON], { done: "cordoned", was: "already cordoned" }),
});

export const uncordonCommand: Command = defineCommand({
  name: "uncordon",
  summary: "let members get new workloads again, after a cordon or a drain",
  details:
    "Workloads that a drain moved away do not return by themselves: the scheduler moves running workloads only " +
    "for a reason. A WorkloadRebalancer divides them again.",
  example: [{ says: "Let a member get new workloads again.", run: "flotilla uncordon member2" }],
  args: [members],
  flags,
  run: (context) => change(context, new Set(context.args), UNCORDON, { done: "uncordoned", was: "not cordoned" }),
});

export const taintCommand: Command = defineCommand({
  name: "taint",
  summary: "set or remove taints of a member",
  details:
    "NoSchedule keeps new workloads away unless their policy tolerates the taint. NoExecute also moves " +
    "workloads away, but only those whose policy configures failover.cluster; 'flotilla drain' moves most " +
    "others, too.",
  example: [
    { says: "Keep workloads away that do not tolerate the taint.", run: "flotilla taint member2 gpu=yes:NoSchedule" },
    { says: "Remove it.", run: "flotilla taint member2 gpu-" },
  ],
  args: [
    { name: "MEMBER", description: "the member", required: true, completes: "cluster" },
    {
      name: "TAINT",
      description: "KEY=VALUE:EFFECT or KEY:EFFECT to set, KEY:EFFECT- or KEY- to remove",
      required: true,
      repeated: true,
    },
  ],
  flags,
  run(context) {
    const [member = "", ...taints] = context.args;
    if (taints.length === 0) throw new UsageError("name a taint, for example gpu=yes:NoSchedule");
    const changes = taints.map(parseTaintChange);
    const isRemoval = changes.every(({ type }) => type === "remove");
    return change(context, new Set([member]), changes, {
      done: isRemoval ? "untainted" : "tainted",
      was: isRemoval ? "has no such taint" : "has these taints already",
    });
  },
});

/** A user who sets NoExecute expects that pods leave, as from a node. */
const movesLittle = (change: TaintChange): boolean => change.type === "add" && change.effect === "NoExecute";

async function change(
  context: CommandContext<Flags>,
  names: ReadonlySet<string>,
  changes: readonly TaintChange[],
  words: { done: string; was: string },
): Promise<void> {
  const {
    flags: { "dry-run": dryRun, ...hub },
    output,
    signal,
    clock,
    connect,
    environment,
  } = context;
  const { client, close } = await connect(hubKubeconfig(hub, environment));
  try {
    const results: { name: string; changed: boolean }[] = [];
    for (const name of names) {
      const changed = await changeTaints(client, name, changes, { clock, signal, dryRun });
      results.push({ name, changed });
      if (changed && changes.some(movesLittle))
        output.warn(
          `NoExecute moves only workloads whose policy has failover.cluster; 'flotilla drain ${name}' moves most others, too`,
        );
      output.say(`${name} ${changed ? words.done : words.was}${dryRun ? " (dry run)" : ""}`);
    }
    if (output.format !== "table") output.result(results, () => "");
  } finally {
    await close();
  }
}
