import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";

/** Slots that the binary fills; each must be in the page exactly once, and nowhere in the scripts. */
const SLOTS = ["<title>Fathom</title>", "<!--fathom-static-->", "<!--fathom-document-->"];

/**
 * Puts script and style into the page, so that the report is one file that asks for nothing.
 * Own few lines rather than a plug-in: they also check the slots.
 */
function oneFile(): Plugin {
  return {
    name: "fathom-one-file",
    apply: "build",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("the build made no index.html");
      let html = String(page.source);
      for (const [name, part] of Object.entries(bundle)) {
        if (part === page) continue;
        if (part.type === "chunk") {
          const code = part.code.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
          const tag = new RegExp(`<script type="module"[^>]*src="[^"]*${name}"></script>`);
          if (!tag.test(html)) throw new Error(`no script tag for ${name}`);
          html = html.replace(tag, "").replace("</body>", () => `<script type="module">${code}</script>\n</body>`);
        } else if (name.endsWith(".css")) {
          const tag = new RegExp(`<link rel="stylesheet"[^>]*href="[^"]*${name}">`);
          if (!tag.test(html)) throw new Error(`no link tag for ${name}`);
          html = html.replace(tag, () => `<style>${String(part.source).trim()}</style>`);
        } else {
          throw new Error(`${name} cannot be inlined`);
        }
        delete bundle[name];
      }
      for (const slot of SLOTS) {
        const found = html.split(slot).length - 1;
        if (found !== 1) throw new Error(`the page holds the slot ${slot} ${found} times, expected once`);
      }
      page.source = html;
    },
    writeBundle(options) {
      const dir = options.dir ?? resolve("dist");
      writeFileSync(resolve(dir, "viewer.html"), readFileSync(resolve(dir, "index.html")));
      rmSync(resolve(dir, "index.html"));
    },
  };
}

export default defineConfig({
  plugins: [oneFile()],
  build: {
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: true,
    chunkSizeWarningLimit: 1500,
  },
  test: { include: ["tests/**/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);
