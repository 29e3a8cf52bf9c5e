/**
 * A transport to one member whose address may change while informers and controllers keep using it. A new address
 * starts from scratch: resourceVersions mean nothing to another server, so a resuming watch must list again.
 */
import type { Log } from "@flotilla/base";
import type { ResourcePath, Transport } from "@flotilla/client";
import { expired } from "@flotilla/apimachinery";

export interface MemberTransport extends Transport {
  /** Routes further requests through another transport; the old one is closed, and its watches end. */
  replace(open: () => Promise<Transport>): void;
  /** Closes the connection and ends its watches; the next request opens another to the same server. */
  disconnect(): void;
}

interface Epoch {
  transport: Promise<Transport>;
  ending: AbortController;
}

export function createMemberTransport(open: () => Promise<Transport>, log: Log): MemberTransport {
  let reopenSame = open;
  let epoch = begin(open);
  const watched = new Set<string>();
  const mustList = new Set<string>();

  async function end({ transport, ending }: Epoch): Promise<void> {
    ending.abort();
    try {
      await (await transport).close();
    } catch (error) {
      // A transport that failed to open has nothing to close; its callers received the error.
      log.debug("failed to close the connection to a member", { error });
    }
  }

  return {
    async send(request, signal) {
      return (await epoch.transport).send(request, signal);
    },
    async *watch(request, signal) {
      const { path, query } = request;
      const id = idOf(path);
      const resumes = query?.["resourceVersion"] !== undefined && query["sendInitialEvents"] !== "true";
      if (mustList.delete(id) && resumes)
        throw expired(`cluster ${path.cluster} moved to another address; list ${path.resource} again`);
      watched.add(id);
      const { transport, ending } = epoch;
      yield* (await transport).watch(request, AbortSignal.any([signal, ending.signal]));
    },
    async raw(request, signal) {
      return (await epoch.transport).raw(request, signal);
    },
    replace(reopen) {
      void end(epoch);
      for (const id of watched) mustList.add(id);
      reopenSame = reopen;
      epoch = begin(reopen);
    },
    disconnect() {
      void end(epoch);
      epoch = begin(reopenSame);
    },
    close: () => end(epoch),
  };
}

function begin(open: () => Promise<Transport>): Epoch {
  const transport = open();
  // The next request reports a failure; until then it must not be an unhandled rejection.
  void Promise.allSettled([transport]);
  return { transport, ending: new AbortController() };
}

const idOf = ({ group, version, resource, namespace = "" }: ResourcePath): string =>
  `${group}/${version}/${resource}/${namespace}`;
