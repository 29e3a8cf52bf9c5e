/** Flotilla commands that pages mention inline or in a table, where they are not executed. Pure. */
import { prose } from "./links.ts";

export interface InlineCommand {
  line: number;
  text: string;
  name: string;
  /** Without dashes, and without values. */
  flags: string[];
}

export function inlineCommands(markdown: string): InlineCommand[] {
  return prose(markdown).flatMap(({ line, text }) =>
    [...text.matchAll(/`(?:kubectl |bin\/)?flotilla ([^`]+)`/g)].map(([span, rest = ""]) => {
      // Arguments after -- belong to another program.
      const words = (rest.split(" -- ")[0] ?? "").replaceAll("\\|", "|").split(/[\s[\]|]+/);
      return {
        line,
        text: span,
        name: words[0] ?? "",
        flags: words.map((word) => /^--([a-z][a-z-]*)/.exec(word)?.[1]).filter((flag) => flag !== undefined),
      };
    }),
  );
}
