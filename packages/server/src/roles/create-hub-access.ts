/** How the parts of one process read and write the hub and its simulated members: clients, informers and events. */
import type { Clock, Log, Random } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { createEventRecorders, createInformers, createWriteThroughClient } from "@flotilla/controller-runtime";
import type { EventRecorders, SharedInformers } from "@flotilla/controller-runtime";
import type { HubApiServer } from "./api-server.ts";
import type { Part } from "./process-parts.ts";

export interface HubAccessOptions {
  /** The logical cluster of the hub in keys. */
  hub: string;
  api: Pick<HubApiServer, "connect">;
  /** The logical clusters whose objects `memberInformers` has. */
  isMember(cluster: string): boolean;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface HubAccess extends Part {
  client: Client;
  /** The hub's objects. */
  informers: SharedInformers;
  /** The objects of all simulated members: their keys include the cluster. */
  memberInformers: SharedInformers;
  /** Controllers read their own writes: the response to a write is stored in the informers at once. */
  writeThrough(plain: Client): Client;
  /** A client for one part; its user and field manager name the part. */
  clientFor(part: string): Client;
  events: EventRecorders;
  /** No event is being written. */
  isQuiet(): boolean;
  stop(): Promise<void>;
}

export function createHubAccess(options: HubAccessOptions): HubAccess {
  const { hub, api, isMember, clock, random, log } = options;
  const client = api.connect("system", "flotilla-system");
  const informers = createInformers({ client, clock, random, log, scope: { cluster: hub } });
  const memberInformers = createInformers({ client, clock, random, log, scope: { cluster: "*", where: isMember } });
  const writeThrough = (plain: Client): Client => createWriteThroughClient(plain, [informers, memberInformers]);
  const clientFor = (part: string): Client => writeThrough(api.connect(part, `flotilla-${part}`));
  const events = createEventRecorders({ client: clientFor("events"), clock, log });
  return {
    client,
    informers,
    memberInformers,
    writeThrough,
    clientFor,
    events: events.recorders,
    isQuiet: events.isQuiet,
    async stop() {
      await events.stop();
      informers.close();
      memberInformers.close();
    },
  };
}
