/**
 * What is opened for one real cluster over a transport to it: a client, what is seen of its nodes and pods, and a way
 * for manifests.
 */
import type { Clock, Log, Random } from "../base/index.ts";
import { createClient, createKindResolver, createServedVersionsClient } from "../client/index.ts";
import type { Client, Transport } from "../client/index.ts";
import { createDelivery, createObserver } from "../delivery/index.ts";
import type { Delivery } from "../delivery/index.ts";
import { createInformers, createWriteThroughClient } from "../runtime/index.ts";
import type { Informers } from "../runtime/index.ts";
import { followDefinitions } from "./definitions.ts";
import { createGuard } from "./guard.ts";
import { createSlimClient } from "./slim-client.ts";

export interface MemberPartsOptions {
  cluster: string;
  transport: Transport;
  /** Wraps the transport of what writes, for example to count. */
  wrap?(transport: Transport, part: string): Transport;
  clock: Clock;
  random: Random;
  log: Log;
  /** Told when the member may serve other kinds than before. */
  onServed(): void;
}

export interface MemberParts {
  /** Asks the member itself, also while it is not thought to answer. */
  client: Client;
  /** Its nodes and pods, in short. */
  summary: Informers;
  /** Its objects as `delivery` shows them. */
  observed: Informers;
  delivery: Delivery;
  /** Its writes are seen at once by whatever `delivery` shows. */
  writer: Client;
  /** Ends what watches; the transport is its owner's. */
  close(): void;
}

/** The field manager under which we own fields on members; as for simulated ones. */
const FIELD_MANAGER = "flotilla";

export function createMemberParts({
  cluster,
  transport,
  wrap = (plain) => plain,
  clock,
  random,
  log,
  onServed,
}: MemberPartsOptions): MemberParts {
  const client = createClient({ transport, fieldManager: FIELD_MANAGER });
  const guarded = createClient({
    transport: wrap(createGuard(transport, cluster, clock), "execute"),
    fieldManager: FIELD_MANAGER,
  });
  const shared = { clock, random, log: log.with({ member: cluster }), scope: { cluster } };
  // Two sets: what Works name is kept whole, and of all nodes and pods no more than is summed.
  const observed = createInformers({ ...shared, client });
  const summary = createInformers({ ...shared, client: createSlimClient(createServedVersionsClient(client)) });
  const writer = createWriteThroughClient(guarded, [observed]);
  const delivery = createDelivery({
    client: writer,
    cluster,
    kinds: createKindResolver({ client: guarded, cluster }),
    observer: createObserver(followDefinitions(observed, onServed)),
    clock,
  });
  return {
    client,
    summary,
    observed,
    delivery,
    writer,
    close() {
      observed.close();
      summary.close();
    },
  };
}
