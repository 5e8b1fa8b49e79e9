/** Endings by which a name with a dot is taken for a file and not for a member of something. */
export const fileExtensions: ReadonlySet<string> = new Set(
  (
    'ts tsx mts cts js jsx mjs cjs json jsonl json5 yaml yml toml ini cfg conf env lock md mdx rst txt log csv tsv ' +
    'py pyi pyc ipynb rb rs go mod sum java kt kts scala groovy gradle c h cc cpp cxx hpp hh cs fs vb swift m mm php ' +
    'pl pm lua r jl ex exs erl hs ml clj cljs dart zig nim v sol sh bash zsh fish ps1 bat cmd sql graphql gql proto ' +
    'html htm xhtml xml xsl svg css scss sass less vue svelte astro hbs ejs njk tpl tmpl j2 po pot mo ' +
    'png jpg jpeg gif webp ico pdf doc docx xls xlsx ppt pptx odt zip gz tgz tar bz2 xz 7z jar war whl wasm so dll exe ' +
    'db sqlite sqlite3 patch diff map snap golden pem crt key pub cast tape plist service dockerfile mk cmake tf tfvars'
  ).split(' '),
);
