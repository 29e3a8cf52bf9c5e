/**
 * Writes the addresses of a Service, emits its events, and waits until a write is visible in the informers.
 *
 * Writes: EndpointSlice, Endpoints.
 */
import type { ObjectKey } from "@flotilla/client";
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";
import { EndpointSlice } from "../endpointslice/endpointslice-kind.ts";
import { failureMessage } from "../pod/pod-writer.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { createExpectations } from "../workloads/expectations.ts";
import type { Owner } from "../workloads/expectations.ts";
import { writeAll } from "../workloads/write-all.ts";
import { Endpoints } from "./endpoints-kind.ts";
import type { ReadonlyService } from "./endpoints-view.ts";
import type { ReadonlyEndpoints } from "./plan-endpoints.ts";
import type { SlicesPlan } from "./plan-slices.ts";

export interface EndpointsWriter {
  /** How long the writes of this Service need at most to become visible; 0 if they are. */
  waitMs(owner: Owner): number;
  writeSlices(plan: SlicesPlan, service: ReadonlyService, owner: Owner, signal: AbortSignal): Promise<void>;
  createEndpoints(endpoints: ReadonlyEndpoints, owner: Owner, signal: AbortSignal): Promise<void>;
  updateEndpoints(endpoints: ReadonlyEndpoints, owner: Owner, signal: AbortSignal): Promise<void>;
  removeEndpoints(key: ObjectKey, endpoints: ReadonlyEndpoints, signal: AbortSignal): Promise<void>;
}

export function createEndpointsWriter(deps: WorkloadDependencies): EndpointsWriter {
  const { client, informers, clock } = deps;
  const slicesSeen = createExpectations(informers.of(EndpointSlice), clock);
  const endpointsSeen = createExpectations(informers.of(Endpoints), clock);
  const events = deps.events?.("endpoint-slice-controller");

  return {
    waitMs: (owner) => Math.max(slicesSeen.waitMs(owner), endpointsSeen.waitMs(owner)),

    async writeSlices({ create, update, remove }, service, owner, signal) {
      try {
        await writeAll("EndpointSlice creations", create, async (slice) =>
          slicesSeen.wrote(owner, await client.create(EndpointSlice, owner.cluster, slice, { signal })),
        );
        await writeAll("EndpointSlice updates", update, async (slice) => {
          const written = await unlessChanged(client.update(EndpointSlice, owner.cluster, slice, { signal }));
          if (written) slicesSeen.wrote(owner, written);
        });
        await writeAll("EndpointSlice deletions", remove, async (slice) => {
          await unlessChanged(
            client.delete(EndpointSlice, keyOf(owner.cluster, slice), {
              preconditions: { uid: slice.metadata.uid ?? "" },
              signal,
            }),
          );
          slicesSeen.deleted(owner, slice);
        });
      } catch (error) {
        const { namespace, name } = service.metadata;
        events?.record(owner.cluster, service, {
          type: "Warning",
          reason: "FailedToUpdateEndpointSlices",
          message: `Error updating Endpoint Slices for Service ${namespace}/${name}: ${failureMessage(error)}`,
        });
        throw error;
      }
    },

    async createEndpoints(endpoints, owner, signal) {
      endpointsSeen.wrote(owner, await client.create(Endpoints, owner.cluster, endpoints, { signal }));
    },

    async updateEndpoints(endpoints, owner, signal) {
      const written = await unlessChanged(client.update(Endpoints, owner.cluster, endpoints, { signal }));
      if (written) endpointsSeen.wrote(owner, written);
    },

    async removeEndpoints(key, { metadata }, signal) {
      await unlessChanged(client.delete(Endpoints, key, { preconditions: { uid: metadata.uid ?? "" }, signal }));
    },
  };
}
