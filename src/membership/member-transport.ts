/**
 * A transport to one member whose address may change while informers and controllers go on using it. What a new address
 * is asked is asked from scratch: versions of objects mean nothing at another server, so a watch that would resume is
 * told to list again.
 */
import type { Log } from "../base/index.ts";
import type { ResourcePath, Transport } from "../client/index.ts";
import { expired } from "../machinery/index.ts";

export interface MemberTransport extends Transport {
  /** From now on requests go through another transport; the old one is closed, and watches of it end. */
  replace(open: () => Promise<Transport>): void;
}

interface Epoch {
  transport: Promise<Transport>;
  ending: AbortController;
}

export function createMemberTransport(open: () => Promise<Transport>, log: Log): MemberTransport {
  let epoch = begin(open);
  const watched = new Set<string>();
  const mustList = new Set<string>();

  async function end({ transport, ending }: Epoch): Promise<void> {
    ending.abort();
    try {
      await (await transport).close();
    } catch (error) {
      // One that could not be opened has nothing to close; whoever used it was told why.
      log.debug("closing the connection to a member failed", { error });
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
        throw expired(`cluster ${path.cluster} is at another address now; list ${path.resource} again`);
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
      epoch = begin(reopen);
    },
    close: () => end(epoch),
  };
}

function begin(open: () => Promise<Transport>): Epoch {
  const transport = open();
  // A failure belongs to whoever sends the next request; until then nobody waits for it.
  void Promise.allSettled([transport]);
  return { transport, ending: new AbortController() };
}

const idOf = ({ group, version, resource, namespace = "" }: ResourcePath): string =>
  `${group}/${version}/${resource}/${namespace}`;
