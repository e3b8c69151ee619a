#!/usr/bin/env python3
"""Makes share/demo/visits.jsonl: invented visits of an invented study.

    share/demo/make-visits.py > share/demo/visits.jsonl

Everything here is drawn from a fixed seed; nobody in it exists. The lines
are submit lines (CONTRACT.md): about 300 visits of study ONC-301, several
forms a visit, a few adverse events, some corrections by the source.
"""
import datetime
import json
import random

STUDY = "ONC-301"
SITES = ["101", "102", "104", "107", "110"]
SUBJECTS_A_SITE = 8
VISITS = ["SCREENING", "V1", "V2", "V3", "V4", "V5", "V6", "V7", "EOT"]
DAYS = [-14, 1, 22, 43, 64, 85, 106, 127, 148]
AUTHORS = {"101": ["s.ruiz", "m.olsen"], "102": ["t.baker"],
           "104": ["k.novak", "j.li"], "107": ["a.haddad"],
           "110": ["e.rossi", "p.moreau"]}
EVENTS = [("Nausea", "10028813"), ("Fatigue", "10016256"),
          ("Headache", "10019211"), ("Neutropenia", "10029354"),
          ("Diarrhoea", "10012735"), ("Rash", "10037844")]
DRUGS = [("Ondansetron", "8", "mg"), ("Paracetamol", "500", "mg"),
         ("Loperamide", "2", "mg"), ("Metoclopramide", "10", "mg")]
LABS = [("HGB", "g/dL", 11.2, 15.8, 1), ("WBC", "10^9/L", 3.1, 9.8, 2),
        ("PLT", "10^9/L", 135, 390, 0), ("ALT", "U/L", 9, 61, 0),
        ("CREAT", "umol/L", 48, 112, 0)]

draw = random.Random(301)


def stamp(day, hour, minute):
    return f"{day.isoformat()}T{hour:02d}:{minute:02d}:00.000Z"


def number(low, high, digits):
    value = round(draw.uniform(low, high), digits)
    return f"{value:.{digits}f}" if digits else str(int(value))


class Subject:
    def __init__(self, site, n):
        self.site = site
        self.key = f"{1000 + SITES.index(site) + 1}-{n:03d}"
        self.start = datetime.date(2026, 1, 12) + datetime.timedelta(
            days=draw.randrange(90))
        self.weight = draw.uniform(52, 98)
        self.events = self.drugs = 0
        self.visits = draw.choice([6, 7, 7, 8, 9, 9])


def line(subject, visit, form, day, items, repeat=None, minute=None):
    site = subject.site
    out = {"study_oid": STUDY, "site_oid": site, "subject_key": subject.key,
           "event_oid": visit, "form_oid": form}
    if repeat:
        out["form_repeat"] = str(repeat)
    payload = {"study_oid": STUDY, "subject_key": subject.key,
               "event_oid": visit, "form_oid": form}
    if repeat:
        payload["form_repeat"] = str(repeat)
    payload["items"] = items
    out["payload"] = payload
    hour = draw.randrange(8, 17)
    minute = draw.randrange(60) if minute is None else minute
    out["source_created_at"] = stamp(day, hour, minute)
    out["source_author"] = draw.choice(AUTHORS[site])
    out["source_system"] = "esource"
    return out


def demography(day):
    return {"BRTHYR": str(draw.randrange(1946, 1992)),
            "SEX": draw.choice("FM"), "ETHNIC": draw.choice(
                ["NOT HISPANIC OR LATINO", "HISPANIC OR LATINO", "UNKNOWN"]),
            "RFICDAT": day.isoformat(), "ARM": draw.choice("AB")}


def vitals(s):
    s.weight += draw.uniform(-1.6, 0.9)
    return {"SYSBP": number(104, 152, 0), "DIABP": number(61, 94, 0),
            "PULSE": number(54, 101, 0), "TEMP": number(36.1, 37.6, 1),
            "WEIGHT": f"{s.weight:.1f}", "POSITION": "SITTING"}


def labs():
    return {"LBDAT": None, "RESULTS": [
        {"LBTESTCD": code, "LBORRES": number(low, high, digits),
         "LBORRESU": unit} for code, unit, low, high, digits in LABS]}


def adverse_event(day):
    term, code = draw.choice(EVENTS)
    return {"AETERM": term, "AEPTCD": code,
            "AESEV": draw.choice(["MILD", "MILD", "MODERATE", "SEVERE"]),
            "AESER": "N", "AESTDAT": day.isoformat(),
            "AEREL": draw.choice(["RELATED", "NOT RELATED"])}


def medication(day):
    name, dose, unit = draw.choice(DRUGS)
    return {"CMTRT": name, "CMDOSE": dose, "CMDOSU": unit,
            "CMSTDAT": day.isoformat(), "CMONGO": draw.choice("YN")}


def correction(first, change):
    """The same record again, a day later, with one value put right."""
    again = json.loads(json.dumps(first))
    change(again["payload"]["items"])
    was = again["source_created_at"]
    day = datetime.date.fromisoformat(was[:10]) + datetime.timedelta(days=1)
    again["source_created_at"] = day.isoformat() + was[10:]
    return again


def visit_lines(s, visit, day):
    out = []
    if visit == "SCREENING":
        out.append(line(s, visit, "DM", day, demography(day)))
    out.append(line(s, visit, "VITALS", day, vitals(s)))
    if draw.random() < 0.12:
        out.append(correction(out[-1], lambda i: i.update(
            PULSE=number(102, 118, 0), POSITION="SUPINE")))
    if visit in ("SCREENING", "V2", "V4", "V6", "EOT"):
        items = labs()
        items["LBDAT"] = day.isoformat()
        out.append(line(s, visit, "LB", day, items))
        if draw.random() < 0.06:
            out.append(correction(out[-1], lambda i: i["RESULTS"][3].update(
                LBORRES=number(62, 140, 0))))
    if visit != "SCREENING" and draw.random() < 0.14:
        s.events += 1
        out.append(line(s, visit, "AE", day, adverse_event(day), s.events))
        s.drugs += 1
        out.append(line(s, visit, "CM", day, medication(day), s.drugs))
    return out


def main():
    subjects = [Subject(site, n + 1) for site in SITES
                for n in range(SUBJECTS_A_SITE)]
    done = []
    for s in subjects:
        for visit, offset in list(zip(VISITS, DAYS))[:s.visits]:
            day = s.start + datetime.timedelta(
                days=offset + draw.randrange(-2, 3))
            done.append((day, s.key, visit_lines(s, visit, day)))
    done.sort(key=lambda x: (x[0], x[1]))
    for _, _, lines in done:
        for one in lines:
            print(json.dumps(one, separators=(",", ":")))


if __name__ == "__main__":
    main()
