/**
 * Requests from a hub to simulated members: those to a member that is cut off fail as if nothing listened there, and
 * requests in flight at the time of the cut are lost.
 */
import type { ConnectRequest, ConnectResponse } from "@flotilla/apimachinery";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { unavailable } from "@flotilla/apimachinery";
import { FAULT } from "../annotations.ts";
import type { MemberNetwork } from "./member-network.ts";

/** A constant message: conditions and logs that contain it do not change while the member is unreachable. */
export const cutOff = (cluster: string): UnreachableError =>
  new UnreachableError(`cluster ${cluster} is cut off by its annotation ${FAULT}`);

export function throughNetwork(transport: Transport, network: MemberNetwork): Transport {
  const pass = (cluster: string): void => {
    if (network.isCut(cluster)) throw cutOff(cluster);
  };
  return {
    async send(request, signal) {
      pass(request.path.cluster);
      return transport.send(request, signal);
    },
    async *watch(request, signal) {
      const { cluster } = request.path;
      pass(cluster);
      const { lost, stop } = cutSignal(cluster, network);
      try {
        yield* transport.watch(request, AbortSignal.any([signal, lost]));
      } finally {
        stop();
      }
      if (!signal.aborted) pass(cluster);
    },
    async raw(request, signal) {
      pass(request.cluster);
      return transport.raw(request, signal);
    },
    close: () => transport.close(),
  };
}

type CallMember = (cluster: string, request: ConnectRequest, signal: AbortSignal) => Promise<ConnectResponse>;

/** Requests that users send to members through the hub. */
export function callThroughNetwork(call: CallMember, network: MemberNetwork): CallMember {
  return async (cluster, request, signal) => {
    // Without Retry-After: clients would retry ten times before they report that a member is unreachable.
    if (network.isCut(cluster)) throw unavailable(`error trying to reach service: ${cutOff(cluster).message}`, 0);
    const { lost, stop } = cutSignal(cluster, network);
    try {
      const response = await call(cluster, request, AbortSignal.any([signal, lost]));
      const { body, upgrade } = response;
      if (upgrade) return { ...response, upgrade: untilLost(upgrade, lost, stop) };
      if (!(body instanceof Uint8Array)) return { ...response, body: withEnd(body, stop) };
      stop();
      return response;
    } catch (error) {
      stop();
      throw error;
    }
  };
}

function untilLost(
  upgrade: NonNullable<ConnectResponse["upgrade"]>,
  lost: AbortSignal,
  stop: () => void,
): NonNullable<ConnectResponse["upgrade"]> {
  return (socket, head) => {
    const end = upgrade(socket, head);
    lost.addEventListener("abort", () => void socket.destroy(), { once: true });
    return () => {
      stop();
      end();
    };
  };
}

async function* withEnd(body: AsyncIterable<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    end();
  }
}

/** Aborted when the member is cut off; `stop` ends the subscription. */
function cutSignal(cluster: string, network: MemberNetwork): { lost: AbortSignal; stop(): void } {
  const loss = new AbortController();
  const stop = network.onChange((name, isCut) => {
    if (name === cluster && isCut) loss.abort();
  });
  return { lost: loss.signal, stop };
}
