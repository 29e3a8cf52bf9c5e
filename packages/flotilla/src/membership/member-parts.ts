/**
 * Opens the parts for one real cluster over its transport: a client, informers for its nodes and pods, and a delivery.
 */
import type { Clock, Log, Random } from "@flotilla/base";
import { createClient, createKindResolver, createServedVersionsClient } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { createDelivery } from "../delivery/create-delivery.ts";
import { createObserver } from "../delivery/observer.ts";
import type { Delivery } from "../delivery/delivery.ts";
import { createInformers, createWriteThroughClient } from "@flotilla/controller-runtime";
import type { InformerBudget, Informers } from "@flotilla/controller-runtime";
import { followDefinitions } from "./definitions.ts";
import { createMemberBreaker } from "./member-breaker.ts";
import { createSlimClient } from "./slim-client.ts";

export interface MemberPartsOptions {
  cluster: string;
  transport: Transport;
  /** Wraps the transport of writers, for example to count requests. */
  wrap?(transport: Transport, part: string): Transport;
  clock: Clock;
  random: Random;
  log: Log;
  /** Limits what the informers hold; unset trusts the member. */
  budget?: InformerBudget;
  /** Called when the kinds that the member serves may have changed. */
  onServed(): void;
}

export interface MemberParts {
  /** Sends requests to the member even while it is considered unreachable. */
  client: Client;
  /** Slimmed informers of its nodes and pods. */
  summary: Informers;
  /** Its objects as `delivery` observes them. */
  observed: Informers;
  delivery: Delivery;
  /** `delivery` observes its writes at once. */
  writer: Client;
  /** Ends the watches; the caller owns the transport. */
  close(): void;
}

/** Our field manager on members, as on simulated ones. */
const FIELD_MANAGER = "flotilla";

export function createMemberParts(options: MemberPartsOptions): MemberParts {
  const { cluster, transport, wrap = (plain) => plain, clock, random, log, budget, onServed } = options;
  const client = createClient({ transport, fieldManager: FIELD_MANAGER });
  const guarded = createClient({
    transport: wrap(createMemberBreaker(transport, cluster, clock), "execute"),
    fieldManager: FIELD_MANAGER,
  });
  const shared = { clock, random, log: log.with({ member: cluster }), scope: { cluster }, budget };
  // Two sets: objects that Works name are kept whole, and nodes and pods only with the fields that are summed.
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
