/**
 * A member cluster as the hub's controllers use it, and where members come from. Controllers cannot distinguish a simulated
 * member from a real one.
 */
import type { Cluster } from "@flotilla/karmada";
import type { ConnectHandler } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { Delivery } from "../delivery/delivery.ts";
import type { Informers } from "@flotilla/controller-runtime";

export interface Member {
  name: string;
  /** Sends requests to the member's API, also while the member is considered unreachable. */
  client: Client;
  /** Nodes, pods and CRDs of the member. */
  informers: Informers;
  /** Applies and observes manifests; unset for a member that pulls, because its agent does that. */
  delivery?: Delivery;
  /** A client whose writes appear in what `delivery` observes without waiting for the watch. */
  writer: Client;
  /** Sends one request as the user who makes it, for the subresource `proxy` of the Cluster. */
  call: ConnectHandler;
  /** The source reports changes of the kinds that the member serves, so they need not be polled. */
  reportsKinds: boolean;
  /** If the member pulls, an agent in the hub's process serves it, which needs no access of its own. */
  hasBuiltInAgent?: true;
}

/** Why a member cannot be reached now. */
export interface MemberProblem {
  problem: string;
  /** The connection that was opened before the problem, whose requests fail with their own reason. */
  member?: Member;
}

export interface MemberListener {
  /** The connection to a member changed: its address, credentials or nodes. */
  changed(name: string): void;
  /** A request to the member was not answered, or its connection broke. */
  suspected(name: string): void;
  /** A member may serve other kinds than before. */
  served(name: string): void;
  /** Informers of one or more members were opened; the returned function is called when they are closed. */
  opened(informers: Informers): () => void;
}

export interface MemberSource {
  /** One set of informers for all members of the source, which serve every kind of ours; unset: each has its own. */
  readonly sharedInformers?: Informers | undefined;
  /** The member that a Cluster describes, or why it cannot be reached; undefined for a Cluster of another source. */
  find(cluster: DeepReadonly<Cluster>): Member | MemberProblem | undefined;
  /** Notifies a listener until the returned function is called. */
  listen(listener: MemberListener): () => void;
  close(): Promise<void>;
}

/** The connection to a member, with or without a problem. */
export const connectionOf = (found: Member | MemberProblem | undefined): Member | undefined =>
  found && "problem" in found ? found.member : found;

/** Members of several sources; the first that knows a Cluster has it. */
export function combineMembers(sources: readonly MemberSource[]): MemberSource {
  return {
    sharedInformers: sources.find(({ sharedInformers }) => sharedInformers)?.sharedInformers,
    find(cluster) {
      for (const source of sources) {
        const found = source.find(cluster);
        if (found) return found;
      }
      return undefined;
    },
    listen(listener) {
      const stops = sources.map((source) => source.listen(listener));
      return () => {
        for (const stop of stops) stop();
      };
    },
    async close() {
      await Promise.all(sources.map((source) => source.close()));
    },
  };
}

/** Listeners of a source, kept by the source itself. */
export function createListeners(): { all: ReadonlySet<MemberListener>; add(listener: MemberListener): () => void } {
  const all = new Set<MemberListener>();
  return {
    all,
    add(listener) {
      all.add(listener);
      return () => void all.delete(listener);
    },
  };
}
