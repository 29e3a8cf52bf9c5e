/**
 * Renews the serving certificate of a process that runs for months: new connections get the new one, and nobody is cut
 * off. The authority itself lives for ten years; when it nears its end that is told, and the next start makes a new
 * one.
 */
import { X509Certificate } from "node:crypto";
import type { Clock, Log } from "../base/index.ts";
import type { Certificates } from "../apiserver/index.ts";

/** Certificates are renewed a month before they end, so that a look a day is often. */
const LOOK_EVERY_MS = 12 * 60 * 60 * 1000;
const WARN_BEFORE_MS = 60 * 24 * 60 * 60 * 1000;

export interface KeepCertificatesOptions {
  current: Certificates;
  /** Reads what is on disk, and makes anew what is about to end. */
  ensure(): Promise<Certificates>;
  use(certificates: Certificates): void;
  clock: Clock;
  log: Log;
}

/** Looks now and then until the returned function is called. */
export function keepCertificates({ current, ensure, use, clock, log }: KeepCertificatesOptions): () => void {
  const authorityEndsMs = new X509Certificate(current.authority.certificate).validToDate.getTime();
  let serving = current.serving.certificate;
  let isStopped = false;
  let timer = clock.after(LOOK_EVERY_MS, look);

  function look(): void {
    void renew()
      .catch((error: unknown) =>
        log.error("renewing certificates failed; it is tried again, and with the next start", { error }),
      )
      .finally(() => {
        if (!isStopped) timer = clock.after(LOOK_EVERY_MS, look);
      });
  }

  async function renew(): Promise<void> {
    if (authorityEndsMs - clock.now() < WARN_BEFORE_MS) {
      log.warn("the certificate authority ends soon; restart to have a new one, and hand out the new kubeconfigs", {
        validTo: new Date(authorityEndsMs).toISOString(),
      });
      return;
    }
    const kept = await ensure();
    if (isStopped || kept.serving.certificate === serving) return;
    serving = kept.serving.certificate;
    use(kept);
    log.info("serving with a new certificate", { validTo: new X509Certificate(serving).validTo });
  }

  return () => {
    isStopped = true;
    timer.cancel();
  };
}
