/** The commands by name. Each is loaded when it is run, so that `flotilla version` does not pay for the others. */
import type { Command } from "./command.ts";

export interface CommandEntry {
  name: string;
  summary: string;
  load(): Promise<Command>;
}

export const commands: readonly CommandEntry[] = [
  { name: "up", summary: "start a hub and simulated member clusters, and run until Ctrl-C", load: async () => (await import("./commands/up.ts")).upCommand },
  { name: "demo", summary: "show the whole idea on a throw-away fleet, with the real kubectl", load: async () => (await import("./commands/demo.ts")).demoCommand },
  { name: "status", summary: "show the members of the fleet, what is not well, and where workloads run", load: async () => (await import("./commands/status.ts")).statusCommand },
  { name: "why", summary: "say why a resource is where it is, what its members say, and what to do", load: async () => (await import("./commands/why.ts")).whyCommand },
  { name: "plan", summary: "show what would change on each member before you apply it", load: async () => (await import("./commands/plan.ts")).planCommand },
  { name: "adopt", summary: "take what members run into the hub's hands, without touching a pod", load: async () => (await import("./commands/adopt.ts")).adoptCommand },
  { name: "join", summary: "make a Kubernetes cluster a member of the fleet", load: async () => (await import("./commands/join.ts")).joinCommand },
  { name: "unjoin", summary: "let a member go; what it runs stays unless it is purged", load: async () => (await import("./commands/unjoin.ts")).unjoinCommand },
  { name: "token", summary: "make a token with which clusters ask to join, and print the commands that use it", load: async () => (await import("./commands/token.ts")).tokenCommand },
  { name: "accept", summary: "let clusters in that asked to join with an agent", load: async () => (await import("./commands/accept.ts")).acceptCommand },
  { name: "register", summary: "register a cluster that the hub cannot reach; an agent on it pulls", load: async () => (await import("./commands/register.ts")).registerCommand },
  { name: "agent", summary: "serve a cluster that pulls: apply what the hub has for it, and report", load: async () => (await import("./commands/agent.ts")).agentCommand },
  { name: "snapshot", summary: "save the fleet's data to one file, also while it runs, or restore it", load: async () => (await import("./commands/snapshot.ts")).snapshotCommand },
  { name: "interpret", summary: "check, run and test the rules that tell what a kind means, without a server", load: async () => (await import("./commands/interpret.ts")).interpretCommand },
  { name: "version", summary: "print the version of flotilla and of the Kubernetes API that it serves", load: async () => (await import("./commands/version.ts")).versionCommand },
];
