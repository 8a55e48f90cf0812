"""The built pages in Chromium, Firefox and WebKit: what one engine alone gets wrong."""

import pytest
from book_site import path

pytestmark = [pytest.mark.book, pytest.mark.browser, pytest.mark.engines, pytest.mark.slow]

def test_try(engine, tmp_path):
    import time, json
    from book_site import toc_pages
    out={}
    for w in (390,):
      for name in [*toc_pages(), "search", "genindex"]:
        if not path(name).exists(): continue
        t=time.time()
        page = engine.open(path(name).as_uri(), width=w)
        s=page.evaluate("""() => {
          for (const d of document.querySelectorAll("details")) d.open = true;
          const w=document.documentElement.clientWidth;
          const wide=[...document.querySelectorAll("body *")].filter(e=>{const r=e.getBoundingClientRect(); return r.width && r.right>w+0.5 && getComputedStyle(e).position!=="fixed";}).map(e=>e.tagName+"."+(e.className.baseVal??e.className)+"#"+e.id+" "+Math.round(e.getBoundingClientRect().right));
          return [document.documentElement.scrollWidth, w, document.scrollingElement.scrollWidth, document.body.scrollWidth, wide.length, document.documentElement.scrollWidth>w? wide.slice(0,12):[]]; }""")
        c=engine.complaints()
        out[name]=[s,c,time.time()-t]
        print(engine.name,name,s[:5],len(c),round(time.time()-t,2),flush=True)
        for x in s[5]: print("     ",x)
    json.dump(out,open(f"/tmp/survey-{engine.name}.json","w"),indent=1)
