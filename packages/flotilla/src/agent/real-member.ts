/** One real cluster, reached through its own API server, in-cluster or with a kubeconfig. */
import type { Clock, Log, Random } from "@flotilla/base";
import type { Transport } from "@flotilla/client";
import { createMemberParts } from "../membership/member-parts.ts";
import { dryRunOver } from "../ocm/work/executor.ts";
import type { AgentMembers } from "./members.ts";

export interface RealMemberOptions {
  cluster: string;
  /** The uid of its kube-system namespace. */
  id: string;
  transport: Transport;
  clock: Clock;
  random: Random;
  log: Log;
}

/** Released by `close`; the caller owns the transport. */
export function createRealMember(options: RealMemberOptions): AgentMembers & { close(): void } {
  const { cluster, id, transport, clock, random, log } = options;
  const listeners = new Set<(cluster: string) => void>();
  const { client, writer, summary, observed, delivery, close } = createMemberParts({
    cluster,
    transport,
    clock,
    random,
    log,
    onServed: () => listeners.forEach((report) => report(cluster)),
  });
  const member = { delivery, client: writer, cluster, dryRunAs: dryRunOver(writer, cluster) };
  return {
    serves: (name) => name === cluster,
    idOf: () => id,
    accessTo: (name) =>
      name === cluster ? { client, informers: summary } : { problem: `this agent serves ${cluster}` },
    memberFor: (name) => (name === cluster ? member : undefined),
    summary,
    objects: observed,
    onServed(report) {
      listeners.add(report);
      return () => listeners.delete(report);
    },
    close,
  };
}
