/** The command line that does the same, ready to be copied. */
import { useState } from "preact/hooks";
import { t } from "../i18n.ts";

export function Command({ line }: { line: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(line);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <span class="command">
      <code>{line}</code>
      <button
        type="button"
        class="quiet"
        onClick={() => void copy()}
        aria-label={t("Copy the command {line}", { line })}
      >
        {copied ? t("copied") : t("copy")}
      </button>
    </span>
  );
}
