/** The commands by name. Each is loaded when it runs, so that `flotilla version` does not load the others. */
import type { Command } from "./command.ts";

/** The overview lists the commands in these groups, in this order. */
export const SECTIONS = ["Getting started", "Looking", "Changing", "Membership", "Operating"] as const;
type Section = (typeof SECTIONS)[number];

export interface CommandEntry {
  name: string;
  section: Section;
  summary: string;
  load(): Promise<Command>;
}

export const commands: readonly CommandEntry[] = [
  {
    name: "up",
    section: "Getting started",
    summary: "start a hub and simulated member clusters, and run until Ctrl-C",
    load: async () => (await import("./commands/up.ts")).upCommand,
  },
  {
    name: "demo",
    section: "Getting started",
    summary: "run a guided tour on a temporary fleet, and verify every step",
    load: async () => (await import("./commands/demo.ts")).demoCommand,
  },
  {
    name: "status",
    section: "Looking",
    summary: "show the members of the fleet, what is unhealthy, and where workloads run",
    load: async () => (await import("./commands/status.ts")).statusCommand,
  },
  {
    name: "get",
    section: "Looking",
    summary: "show objects of all members, with the cluster each is on",
    load: async () => (await import("./commands/get.ts")).getCommand,
  },
  {
    name: "describe",
    section: "Looking",
    summary: "show one object across the fleet: hub, binding, members' copies, events",
    load: async () => (await import("./commands/describe.ts")).describeCommand,
  },
  {
    name: "logs",
    section: "Looking",
    summary: "print the logs of a pod, or of all pods of a workload, on all members",
    load: async () => (await import("./commands/logs.ts")).logsCommand,
  },
  {
    name: "exec",
    section: "Looking",
    summary: "run a command in a container on a member",
    load: async () => (await import("./commands/exec.ts")).execCommand,
  },
  {
    name: "why",
    section: "Looking",
    summary: "explain why a resource is where it is, what its members report, and what to do",
    load: async () => (await import("./commands/why.ts")).whyCommand,
  },
  {
    name: "plan",
    section: "Changing",
    summary: "show what would change on each member before you apply it",
    load: async () => (await import("./commands/plan-commands.ts")).planCommand,
  },
  {
    name: "apply",
    section: "Changing",
    summary: "show what would change on each member, ask for confirmation, and apply it",
    load: async () => (await import("./commands/apply.ts")).applyCommand,
  },
  {
    name: "adopt",
    section: "Changing",
    summary: "bring existing workloads on members under hub management, without changing a pod",
    load: async () => (await import("./commands/adopt.ts")).adoptCommand,
  },
  {
    name: "join",
    section: "Membership",
    summary: "join a Kubernetes cluster to the fleet",
    load: async () => (await import("./commands/join.ts")).joinCommand,
  },
  {
    name: "unjoin",
    section: "Membership",
    summary: "remove a member from the fleet; its workloads stay unless they are purged",
    load: async () => (await import("./commands/unjoin.ts")).unjoinCommand,
  },
  {
    name: "token",
    section: "Membership",
    summary: "create a token for clusters that join, and print the commands that use it",
    load: async () => (await import("./commands/token.ts")).tokenCommand,
  },
  {
    name: "accept",
    section: "Membership",
    summary: "accept clusters that asked to join with an agent",
    load: async () => (await import("./commands/accept.ts")).acceptCommand,
  },
  {
    name: "register",
    section: "Membership",
    summary: "register a cluster that the hub cannot reach, for pull mode with an agent",
    load: async () => (await import("./commands/register.ts")).registerCommand,
  },
  {
    name: "apiserver",
    section: "Operating",
    summary: "run the hub's API server alone; 'flotilla controllers' does the rest",
    load: async () => (await import("./commands/apiserver.ts")).apiserverCommand,
  },
  {
    name: "controllers",
    section: "Operating",
    summary: "run the hub's controllers against an API server, with leader election",
    load: async () => (await import("./commands/controllers.ts")).controllersCommand,
  },
  {
    name: "agent",
    section: "Membership",
    summary: "run the agent of a pull-mode cluster: apply the hub's works and report status",
    load: async () => (await import("./commands/agent.ts")).agentCommand,
  },
  {
    name: "doctor",
    section: "Operating",
    summary: "diagnose problems of the fleet, and suggest a fix for each",
    load: async () => (await import("./commands/doctor.ts")).doctorCommand,
  },
  {
    name: "lint",
    section: "Changing",
    summary: "find mistakes and pitfalls in manifests before you apply them, without a server",
    load: async () => (await import("./commands/lint.ts")).lintCommand,
  },
  {
    name: "snapshot",
    section: "Operating",
    summary: "save the fleet's data to one file, even while it runs, or restore it",
    load: async () => (await import("./commands/snapshot.ts")).snapshotCommand,
  },
  {
    name: "interpret",
    section: "Changing",
    summary: "check, run and test the resource interpreter rules of a kind, without a server",
    load: async () => (await import("./commands/interpret.ts")).interpretCommand,
  },
  {
    name: "completion",
    section: "Getting started",
    summary: "print a shell completion script for commands, flags and names",
    load: async () => (await import("./commands/completion.ts")).completionCommand,
  },
  {
    name: "version",
    section: "Operating",
    summary: "print the version of flotilla and of the Kubernetes API that it serves",
    load: async () => (await import("./commands/version.ts")).versionCommand,
  },
];
