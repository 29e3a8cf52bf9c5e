/** The faults: what each does to the hub, and how it ends. Which one happens next is drawn from a seed. */
import type { Random } from "@flotilla/base";
import type { Hub } from "./hub.ts";
import { SIZES } from "./hub.ts";
import type { Link, LinkState } from "./link.ts";
import type { Machine } from "./machine.ts";

export interface Fault {
  kind: FaultKind;
  /** What it happens to. */
  target: string;
  inject(): Promise<void>;
  /** Afterwards everything runs again, or starts. */
  heal(): Promise<void>;
}

export type FaultKind = keyof typeof kinds;

const HOUR_MS = 60 * 60 * 1000;
const LINK_STATES: readonly LinkState[] = ["refused", "silent", "half-open", "slow"];
/** Node's clock is moved in the process itself, etcd's cannot be. */
const CLOCKS_MS = [-HOUR_MS, -60_000, -5_000, 5_000, 60_000, HOUR_MS];

type Make = (hub: Hub, random: Random) => Promise<Omit<Fault, "kind"> | undefined>;

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random.next() * from.length)] as T;
}

const kill = (machine: Machine): Omit<Fault, "kind"> => ({
  target: machine.name,
  inject: () => machine.kill(),
  heal: () => machine.start(),
});

const cut = (links: readonly Link[], state: LinkState, target = links.map(({ name }) => name).join(", ")) => ({
  target: `${target}: ${state}`,
  inject: async () => links.forEach((link) => link.set(state)),
  heal: async () => links.forEach((link) => link.set("open")),
});

const kinds = {
  "kill -9 of an API server": async (hub, random) => kill(pick(random, hub.apiservers)),
  "kill -9 of controllers": async (hub, random) => kill(pick(random, hub.controllers)),
  "kill -9 of an etcd": async (hub, random) => kill(pick(random, hub.etcd)),
  "kill -9 of etcd's leader": async (hub) => {
    const leader = hub.etcd[(await hub.leader()) ?? -1];
    return leader && kill(leader);
  },
  "loss of two etcd": async (hub, random) => {
    const first = Math.floor(random.next() * SIZES.etcd);
    const two = [first, (first + 1) % SIZES.etcd].flatMap((index) => hub.etcd[index] ?? []);
    return {
      target: two.map(({ name }) => name).join(", "),
      inject: async () => void (await Promise.all(two.map((machine) => machine.kill()))),
      heal: async () => void (await Promise.all(two.map((machine) => machine.start()))),
    };
  },
  "clean stop of an API server": async (hub, random) => {
    const machine = pick(random, hub.apiservers);
    return { target: machine.name, inject: () => machine.stop(), heal: () => machine.start() };
  },
  "SIGSTOP of a process": async (hub, random) => {
    const machine = pick(random, hub.machines);
    return { target: machine.name, inject: async () => machine.pause(), heal: async () => machine.resume() };
  },
  "network between an API server and one etcd": async (hub, random) =>
    cut([pick(random, pick(random, hub.storeLinks))], pick(random, LINK_STATES)),
  "network between an API server and all etcd": async (hub, random) => {
    const index = Math.floor(random.next() * SIZES.apiservers);
    return cut(hub.storeLinks[index] ?? [], pick(random, LINK_STATES), `apiserver${index} to etcd`);
  },
  "network between two etcd": async (hub, random) => {
    const one = Math.floor(random.next() * SIZES.etcd);
    const other = (one + 1) % SIZES.etcd;
    const state = pick<LinkState>(random, ["silent", "half-open", "slow"]);
    return {
      target: `etcd${one} and etcd${other}: ${state}`,
      inject: async () => hub.setPeers(one, other, state),
      heal: async () => hub.setPeers(one, other, "open"),
    };
  },
  "one etcd alone": async (hub, random) => {
    const one = pick(random, [(await hub.leader()) ?? 0, Math.floor(random.next() * SIZES.etcd)]);
    const set = async (state: LinkState): Promise<void> => {
      for (let other = 0; other < SIZES.etcd; other++) if (other !== one) hub.setPeers(one, other, state);
    };
    return { target: `etcd${one}`, inject: () => set("silent"), heal: () => set("open") };
  },
  "network between clients and an API server": async (hub, random) =>
    cut([pick(random, hub.clientLinks)], pick(random, LINK_STATES)),
  "network between controllers and API servers": async (hub, random) =>
    cut([pick(random, hub.controllerLinks)], pick(random, LINK_STATES)),
  "jump of a clock": async (hub, random) => {
    const machine = pick(random, [...hub.apiservers, ...hub.controllers]);
    const offsetMs = pick(random, CLOCKS_MS);
    return {
      target: `${machine.name} by ${offsetMs / 1000} s`,
      inject: async () => machine.setClock?.(offsetMs),
      heal: async () => machine.setClock?.(0),
    };
  },
  "full disk of an etcd": async (hub, random) => {
    const index = Math.floor(random.next() * SIZES.etcd);
    const [disk, machine] = [hub.etcdDisks[index], hub.etcd[index]];
    if (!disk?.canFill || !machine) return undefined;
    return {
      target: machine.name,
      inject: async () => disk.fill(),
      async heal() {
        disk.free();
        await machine.start(); // It may have ended.
      },
    };
  },
  "full disk of an API server": async (hub, random) => {
    const index = Math.floor(random.next() * SIZES.apiservers);
    const disk = hub.serverDisks[index];
    if (!disk?.canFill) return undefined;
    return { target: `apiserver${index}`, inject: async () => disk.fill(), heal: async () => disk.free() };
  },
} satisfies Record<string, Make>;

export const faultKinds = Object.keys(kinds) as readonly FaultKind[];

/** Kinds come in a random order, each once before any comes again, so that a short run has most of them. */
export function createFaults(hub: Hub, random: Random, only: readonly FaultKind[] = faultKinds): () => Promise<Fault> {
  let left: FaultKind[] = [];
  return async () => {
    for (;;) {
      if (left.length === 0) left = [...only];
      const [kind] = left.splice(Math.floor(random.next() * left.length), 1);
      const fault = kind && (await kinds[kind](hub, random));
      if (fault) return { kind, ...fault };
    }
  };
}
